; Declarations
(class_definition name: (identifier) @name) @def.class
(mixin_declaration (identifier) @name) @def.class
(extension_declaration name: (identifier) @name) @def.class
(enum_declaration name: (identifier) @name) @def.enum
(enum_constant name: (identifier) @name) @def.constant
(type_alias (type_identifier) @name . "=") @def.type
(type_alias (type_identifier) @name . (type_parameters) . "=") @def.type
(type_alias (type_identifier) @name . (formal_parameter_list)) @def.type
((function_signature name: (identifier) @name) @def.function . (function_body) @body)
((method_signature (function_signature name: (identifier) @name) @def.function) . (function_body) @body)
(declaration (function_signature name: (identifier) @name)) @def.function
((method_signature (getter_signature name: (identifier) @name) @def.property) . (function_body) @body)
((getter_signature name: (identifier) @name) @def.property . (function_body) @body)
((method_signature (setter_signature name: (identifier) @name) @def.property) . (function_body) @body)
(constructor_signature name: (identifier) @name .) @def.method
(constructor_signature name: (identifier) @name . parameters: (_)) @def.method
(factory_constructor_signature (identifier) @name . (formal_parameter_list)) @def.method
(class_body (declaration (initialized_identifier_list (initialized_identifier (identifier) @name @def.property))))
(class_body (declaration (static_final_declaration_list (static_final_declaration (identifier) @name @def.constant))))
(program (static_final_declaration_list (static_final_declaration (identifier) @name @def.constant)))
(program (initialized_identifier_list (initialized_identifier (identifier) @name @def.variable)))
(comment) @comment
(documentation_comment) @comment

; Uses
(_ (identifier) @ref.call . (selector (argument_part)))
(_ (selector (unconditional_assignable_selector (identifier) @ref.call)) @_s . (selector (argument_part)))
(new_expression (type_identifier) @ref.instantiation)
(const_object_expression (type_identifier) @ref.instantiation)
(superclass (type_identifier) @ref.extends)
(mixins (type_identifier) @ref.implements)
(interfaces (type_identifier) @ref.implements)
(import_specification (configurable_uri (uri (string_literal) @import.module)))

; What a name may mean instead
(formal_parameter name: (identifier) @local)
(initialized_variable_definition name: (identifier) @local)
(block) @scope
