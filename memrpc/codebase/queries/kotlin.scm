; Declarations
(class_declaration (modifiers (class_modifier "enum")) name: (identifier) @name) @def.enum
(class_declaration "interface" name: (identifier) @name) @def.interface
(class_declaration name: (identifier) @name) @def.class
(object_declaration name: (identifier) @name) @def.class
(function_declaration name: (identifier) @name) @def.function
(type_alias type: (identifier) @name) @def.type
(enum_entry (identifier) @name) @def.constant
(source_file (property_declaration (variable_declaration (identifier) @name)) @def.variable)
(class_body (property_declaration (variable_declaration (identifier) @name)) @def.property)
(class_parameter (identifier) @name) @def.property
(secondary_constructor "constructor" @name) @def.method
(line_comment) @comment
(block_comment) @comment

; Visibility
(_ (modifiers (visibility_modifier "private"))) @private

; Uses
(call_expression . (identifier) @ref.call)
(call_expression . (navigation_expression (_) @on (identifier) @ref.call .))
(delegation_specifier (constructor_invocation (user_type (identifier) @ref.extends)))
(delegation_specifier (user_type (identifier) @ref.implements))
(annotation (user_type (identifier) @ref.call))

; What a name may mean instead
(parameter (identifier) @local)
(function_body (block (property_declaration (variable_declaration (identifier) @local))))
(lambda_literal) @scope
