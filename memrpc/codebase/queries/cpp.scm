; Declarations
(function_definition declarator: (function_declarator declarator: [(identifier) (field_identifier) (qualified_identifier) (destructor_name) (operator_name)] @name)) @def.function
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: [(identifier) (field_identifier) (qualified_identifier) (operator_name)] @name))) @def.function
(function_definition declarator: (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: [(identifier) (field_identifier) (qualified_identifier)] @name)))) @def.function
(function_definition declarator: (reference_declarator (function_declarator declarator: [(identifier) (field_identifier) (qualified_identifier) (operator_name)] @name))) @def.function
(function_definition declarator: (operator_cast) @name) @def.function
(class_specifier name: (_) @name body: (_)) @def.class
(struct_specifier name: (_) @name body: (_)) @def.class
(union_specifier name: (_) @name body: (_)) @def.class
(enum_specifier name: (_) @name body: (_)) @def.enum
(enumerator name: (identifier) @name) @def.constant
(namespace_definition name: (_) @name) @def.module
(type_definition declarator: (type_identifier) @name) @def.type
(type_definition declarator: (pointer_declarator declarator: (type_identifier) @name)) @def.type
(type_definition declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))) @def.type
(alias_declaration name: (type_identifier) @name) @def.type
(concept_definition name: (identifier) @name) @def.type
(field_declaration declarator: (field_identifier) @name) @def.property
(field_declaration declarator: (pointer_declarator declarator: (field_identifier) @name)) @def.property
(field_declaration declarator: (reference_declarator (field_identifier) @name)) @def.property
(field_declaration declarator: (array_declarator declarator: (field_identifier) @name)) @def.property
(preproc_def name: (identifier) @name) @def.constant
(preproc_function_def name: (identifier) @name) @def.function
(translation_unit (declaration declarator: (init_declarator declarator: (identifier) @name)) @def.variable)
(declaration_list (declaration declarator: (init_declarator declarator: (identifier) @name)) @def.variable)
(comment) @comment

; Visibility
(function_definition (storage_class_specifier "static")) @private

; Uses
(call_expression function: (identifier) @ref.call)
(call_expression function: (field_expression argument: (_) @on field: (field_identifier) @ref.call))
(call_expression function: (qualified_identifier scope: (_) @on name: (identifier) @ref.call))
(call_expression function: (template_function name: (identifier) @ref.call))
(new_expression type: (type_identifier) @ref.instantiation)
(new_expression type: (qualified_identifier scope: (_) @on name: (type_identifier) @ref.instantiation))
(base_class_clause (type_identifier) @ref.extends)
(base_class_clause (qualified_identifier scope: (_) @on name: (type_identifier) @ref.extends))
(base_class_clause (template_type name: (type_identifier) @ref.extends))
(preproc_include path: (string_literal (string_content) @import.module))

; What a name may mean instead
(parameter_declaration declarator: (identifier) @local)
(parameter_declaration declarator: (pointer_declarator declarator: (identifier) @local))
(parameter_declaration declarator: (reference_declarator (identifier) @local))
(compound_statement (declaration declarator: (identifier) @local))
(compound_statement (declaration declarator: (init_declarator declarator: (identifier) @local)))
(compound_statement) @scope
(lambda_expression) @scope
