; Declarations
(class_declaration ["class" "struct" "actor"] name: (type_identifier) @name) @def.class
(class_declaration "enum" name: (type_identifier) @name) @def.enum
(class_declaration "extension" name: (user_type) @owner) @container
(protocol_declaration name: (type_identifier) @name) @def.interface
(function_declaration name: (simple_identifier) @name) @def.function
(protocol_function_declaration name: (simple_identifier) @name) @def.function
(init_declaration "init" @name) @def.method
(deinit_declaration "deinit" @name) @def.method
(subscript_declaration "subscript" @name) @def.method
(typealias_declaration name: (type_identifier) @name) @def.type
(enum_entry name: (simple_identifier) @name @def.constant)
(source_file (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @def.variable)
(class_body (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @def.property)
(protocol_property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @def.property
(comment) @comment
(multiline_comment) @comment

; Visibility
(_ (modifiers (visibility_modifier "private"))) @private
(_ (modifiers (visibility_modifier "fileprivate"))) @private

; Uses
(call_expression . (simple_identifier) @ref.call)
(call_expression . (navigation_expression target: (_) @on suffix: (navigation_suffix suffix: (simple_identifier) @ref.call)))
(inheritance_specifier inherits_from: (user_type (type_identifier) @ref.extends))
(import_declaration (identifier) @import.module)

; What a name may mean instead
(parameter name: (simple_identifier) @local)
(statements (property_declaration name: (pattern bound_identifier: (simple_identifier) @local)))
(lambda_literal) @scope
