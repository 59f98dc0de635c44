; Declarations
(class_declaration name: (identifier) @name) @def.class
(record_declaration name: (identifier) @name) @def.class
(interface_declaration name: (identifier) @name) @def.interface
(annotation_type_declaration name: (identifier) @name) @def.interface
(enum_declaration name: (identifier) @name) @def.enum
(enum_constant name: (identifier) @name) @def.constant
(method_declaration name: (identifier) @name) @def.method
(constructor_declaration name: (identifier) @name) @def.method
(compact_constructor_declaration name: (identifier) @name) @def.method
(annotation_type_element_declaration name: (identifier) @name) @def.method
(field_declaration declarator: (variable_declarator name: (identifier) @name @def.property))
(line_comment) @comment
(block_comment) @comment

; Visibility
(_ (modifiers "public")) @exported
(_ (modifiers "protected")) @exported
(field_declaration (modifiers "public") declarator: (variable_declarator name: (identifier) @exported))
(interface_body (_) @exported)
(annotation_type_body (_) @exported)
(enum_constant) @exported

; Uses
(method_invocation !object name: (identifier) @ref.call)
(method_invocation object: (_) @on name: (identifier) @ref.call)
(object_creation_expression type: (type_identifier) @ref.instantiation)
(object_creation_expression type: (generic_type (type_identifier) @ref.instantiation))
(superclass (type_identifier) @ref.extends)
(superclass (generic_type (type_identifier) @ref.extends))
(super_interfaces (type_list (type_identifier) @ref.implements))
(super_interfaces (type_list (generic_type (type_identifier) @ref.implements)))
(extends_interfaces (type_list (type_identifier) @ref.extends))
(extends_interfaces (type_list (generic_type (type_identifier) @ref.extends)))
(marker_annotation name: (identifier) @ref.call)
(annotation name: (identifier) @ref.call)

; What comes from elsewhere
(import_declaration (scoped_identifier scope: (_) @import.module name: (identifier) @import.name))

; What a name may mean instead
(formal_parameter name: (identifier) @local)
(local_variable_declaration declarator: (variable_declarator name: (identifier) @local))
(lambda_expression parameters: (identifier) @local)
(enhanced_for_statement name: (identifier) @local)
(block) @scope
(lambda_expression) @scope
