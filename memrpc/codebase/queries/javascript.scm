; Declarations
(function_declaration name: (identifier) @name) @def.function
(generator_function_declaration name: (identifier) @name) @def.function
(class_declaration name: (identifier) @name) @def.class
(method_definition name: (_) @name) @def.method
(field_definition property: (_) @name value: [(arrow_function) (function_expression)]) @def.method
(field_definition property: (_) @name !value) @def.property
(field_definition property: (_) @name value: [(number) (string) (object) (array) (call_expression) (new_expression) (identifier) (true) (false) (null)]) @def.property
(variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (generator_function)]) @def.function
(variable_declarator name: (identifier) @name value: (class)) @def.class
(program (lexical_declaration (variable_declarator name: (identifier) @name) @def.variable))
(program (variable_declaration (variable_declarator name: (identifier) @name) @def.variable))
(export_statement (lexical_declaration (variable_declarator name: (identifier) @name) @def.variable))
(pair key: (property_identifier) @name value: [(arrow_function) (function_expression)]) @slot.function
(assignment_expression left: (member_expression property: (property_identifier) @name) right: [(arrow_function) (function_expression)]) @slot.function
(assignment_expression left: (identifier) @name right: [(arrow_function) (function_expression)]) @def.function
(comment) @comment
(decorator) @attribute

; Visibility
(export_statement declaration: (function_declaration) @exported)
(export_statement declaration: (generator_function_declaration) @exported)
(export_statement declaration: (class_declaration) @exported)
(export_statement declaration: (lexical_declaration (variable_declarator) @exported))
(export_statement declaration: (variable_declaration (variable_declarator) @exported))
(export_statement "default" declaration: (_) @default)
(export_statement "default" value: (identifier) @export.default)
(export_statement !source (export_clause (export_specifier name: (identifier) @export.name alias: (identifier)? @export.alias)))
(assignment_expression left: (member_expression object: (identifier) @_o property: (property_identifier)) (#eq? @_o "exports")) @exported
(assignment_expression left: (member_expression object: (identifier) @_m property: (property_identifier) @_e) right: (identifier) @export.default (#eq? @_m "module") (#eq? @_e "exports"))
(assignment_expression left: (member_expression object: (identifier) @_m property: (property_identifier) @_e)
  right: (object (shorthand_property_identifier) @export.name) (#eq? @_m "module") (#eq? @_e "exports"))
(class_body (method_definition) @exported)
(class_body (field_definition) @exported)
(method_definition name: (private_property_identifier)) @private
(field_definition property: (private_property_identifier)) @private

; Uses
(call_expression function: (identifier) @ref.call)
(call_expression function: (member_expression object: (_) @on property: [(property_identifier) (private_property_identifier)] @ref.call))
(new_expression constructor: (identifier) @ref.instantiation)
(new_expression constructor: (member_expression object: (_) @on property: (property_identifier) @ref.instantiation))
(class_heritage (identifier) @ref.extends)
(class_heritage (member_expression object: (_) @on property: (property_identifier) @ref.extends))

; What comes from elsewhere
(import_statement (import_clause (identifier) @import.default) source: (string (string_fragment) @import.module))
(import_statement (import_clause (namespace_import (identifier) @import.alias)) source: (string (string_fragment) @import.module))
(import_statement (import_clause (named_imports (import_specifier name: (identifier) @import.name alias: (identifier)? @import.alias))) source: (string (string_fragment) @import.module))
(export_statement (export_clause (export_specifier name: (identifier) @import.name alias: (identifier)? @import.alias)) source: (string (string_fragment) @import.module)) @reexport
(export_statement "*" @import.all source: (string (string_fragment) @import.module)) @reexport
(variable_declarator name: (identifier) @import.alias value: (call_expression function: (identifier) @_r arguments: (arguments (string (string_fragment) @import.module))) (#eq? @_r "require"))
(variable_declarator name: (object_pattern (shorthand_property_identifier_pattern) @import.name) value: (call_expression function: (identifier) @_r arguments: (arguments (string (string_fragment) @import.module))) (#eq? @_r "require"))

; What a name may mean instead
(formal_parameters (identifier) @local)
(formal_parameters (assignment_pattern left: (identifier) @local))
(arrow_function parameter: (identifier) @local)
(rest_pattern (identifier) @local)
(shorthand_property_identifier_pattern) @local
(pair_pattern value: (identifier) @local)
(array_pattern (identifier) @local)
(variable_declarator name: (identifier) @local)
(assignment_expression left: (identifier) @local)
(catch_clause parameter: (identifier) @local)
(for_in_statement left: (identifier) @local)
(statement_block) @scope
(arrow_function) @scope
(function_expression) @scope
