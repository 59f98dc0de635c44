; Declarations
(function_declaration name: (identifier) @name) @def.function
(method_declaration receiver: (parameter_list (parameter_declaration type: (type_identifier) @owner)) name: (field_identifier) @name) @def.method
(method_declaration receiver: (parameter_list (parameter_declaration type: (pointer_type (type_identifier) @owner))) name: (field_identifier) @name) @def.method
(method_declaration receiver: (parameter_list (parameter_declaration type: (generic_type type: (type_identifier) @owner))) name: (field_identifier) @name) @def.method
(method_declaration receiver: (parameter_list (parameter_declaration type: (pointer_type (generic_type type: (type_identifier) @owner)))) name: (field_identifier) @name) @def.method
(type_spec name: (type_identifier) @name type: (struct_type)) @def.class
(type_spec name: (type_identifier) @name type: (interface_type)) @def.interface
(type_spec name: (type_identifier) @name) @def.type
(type_alias name: (type_identifier) @name) @def.type
(method_elem name: (field_identifier) @name) @def.method
(field_declaration name: (field_identifier) @name @def.property)
(source_file (const_declaration (const_spec name: (identifier) @name @def.constant)))
(source_file (var_declaration (var_spec name: (identifier) @name @def.variable)))
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @name @def.variable))))
(comment) @comment

; Uses
(call_expression function: (identifier) @ref.call)
(call_expression function: (selector_expression operand: (_) @on field: (field_identifier) @ref.call))
(composite_literal type: (type_identifier) @ref.instantiation)
(composite_literal type: (qualified_type package: (package_identifier) @on name: (type_identifier) @ref.instantiation))
(struct_type (field_declaration_list (field_declaration !name type: (type_identifier) @ref.extends)))

; What comes from elsewhere
(import_spec !name path: (interpreted_string_literal (interpreted_string_literal_content) @import.module))
(import_spec name: (package_identifier) @import.alias path: (interpreted_string_literal (interpreted_string_literal_content) @import.module))

; What a name may mean instead
(parameter_declaration name: (identifier) @local)
(variadic_parameter_declaration name: (identifier) @local)
(short_var_declaration left: (expression_list (identifier) @local))
(range_clause left: (expression_list (identifier) @local))
(block (statement_list (var_declaration (var_spec name: (identifier) @local))))
(func_literal) @scope
(block) @scope
