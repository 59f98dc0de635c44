; Declarations
(class_declaration name: (identifier) @name) @def.class
(struct_declaration name: (identifier) @name) @def.class
(record_declaration name: (identifier) @name) @def.class
(interface_declaration name: (identifier) @name) @def.interface
(enum_declaration name: (identifier) @name) @def.enum
(enum_member_declaration name: (identifier) @name) @def.constant
(delegate_declaration name: (identifier) @name) @def.type
(namespace_declaration name: (_) @name) @def.module
(file_scoped_namespace_declaration name: (_) @name) @def.module
(method_declaration name: (identifier) @name) @def.method
(constructor_declaration name: (identifier) @name) @def.method
(local_function_statement name: (identifier) @name) @def.function
(property_declaration name: (identifier) @name) @def.property
(field_declaration (variable_declaration (variable_declarator name: (identifier) @name @def.property)))
(event_field_declaration (variable_declaration (variable_declarator name: (identifier) @name @def.property)))
(comment) @comment

; Visibility
(_ (modifier "public")) @exported
(_ (modifier "protected")) @exported
(field_declaration (modifier "public") (variable_declaration (variable_declarator name: (identifier) @exported)))
(interface_declaration body: (declaration_list (_) @exported))
(enum_member_declaration) @exported
(namespace_declaration) @exported
(file_scoped_namespace_declaration) @exported

; Uses
(invocation_expression function: (identifier) @ref.call)
(invocation_expression function: (generic_name (identifier) @ref.call))
(invocation_expression function: (member_access_expression expression: (_) @on name: (identifier) @ref.call))
(invocation_expression function: (member_access_expression expression: (_) @on name: (generic_name (identifier) @ref.call)))
(object_creation_expression type: (identifier) @ref.instantiation)
(object_creation_expression type: (generic_name (identifier) @ref.instantiation))
(base_list (identifier) @ref.extends)
(base_list (generic_name (identifier) @ref.extends))
(attribute name: (identifier) @ref.call)
(using_directive (_) @import.module)

; What a name may mean instead
(parameter name: (identifier) @local)
(variable_declarator name: (identifier) @local)
(block) @scope
(lambda_expression) @scope
