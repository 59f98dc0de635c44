; Declarations
(function_declaration name: (identifier) @name) @def.function
(generator_function_declaration name: (identifier) @name) @def.function
(function_signature name: (identifier) @name) @def.function
(class_declaration name: (type_identifier) @name) @def.class
(abstract_class_declaration name: (type_identifier) @name) @def.class
(interface_declaration name: (type_identifier) @name) @def.interface
(type_alias_declaration name: (type_identifier) @name) @def.type
(enum_declaration name: (identifier) @name) @def.enum
(enum_body (enum_assignment name: (property_identifier) @name) @def.constant)
(enum_body name: (property_identifier) @name @def.constant)
(internal_module name: (_) @name) @def.module
(module name: (_) @name) @def.module
(method_definition name: (_) @name) @def.method
(abstract_method_signature name: (_) @name) @def.method
(method_signature name: (_) @name) @def.method
(construct_signature "new" @name) @def.method
(property_signature name: (_) @name) @def.property
(public_field_definition name: (_) @name value: [(arrow_function) (function_expression)]) @def.method
(public_field_definition name: (_) @name) @def.property
(class_declaration name: (_) @owner body: (class_body (method_definition (formal_parameters (required_parameter ["readonly" (accessibility_modifier)] pattern: (identifier) @name) @def.property))))
(abstract_class_declaration name: (_) @owner body: (class_body (method_definition (formal_parameters (required_parameter ["readonly" (accessibility_modifier)] pattern: (identifier) @name) @def.property))))
(variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (generator_function)]) @def.function
(variable_declarator name: (identifier) @name value: (class)) @def.class
(program (lexical_declaration (variable_declarator name: (identifier) @name) @def.variable))
(program (variable_declaration (variable_declarator name: (identifier) @name) @def.variable))
(export_statement (lexical_declaration (variable_declarator name: (identifier) @name) @def.variable))
(ambient_declaration (lexical_declaration (variable_declarator name: (identifier) @name) @def.variable))
(pair key: (property_identifier) @name value: [(arrow_function) (function_expression)]) @slot.function
(assignment_expression left: (member_expression property: (property_identifier) @name) right: [(arrow_function) (function_expression)]) @slot.function
(comment) @comment
(decorator) @attribute

; Visibility
(export_statement declaration: (_) @exported)
(export_statement declaration: (lexical_declaration (variable_declarator) @exported))
(export_statement declaration: (variable_declaration (variable_declarator) @exported))
(export_statement declaration: (ambient_declaration (_) @exported))
(export_statement "default" declaration: (_) @default)
(export_statement "default" value: (identifier) @export.default)
(export_statement !source (export_clause (export_specifier name: (identifier) @export.name alias: (identifier)? @export.alias)))
(class_body (_) @exported)
(interface_body (_) @exported)
(enum_body (_) @exported)
(method_definition (accessibility_modifier "private")) @private
(public_field_definition (accessibility_modifier "private")) @private
(required_parameter (accessibility_modifier "private")) @private
(method_definition name: (private_property_identifier)) @private
(public_field_definition name: (private_property_identifier)) @private

; Uses
(call_expression function: (identifier) @ref.call)
(call_expression function: (member_expression object: (_) @on property: [(property_identifier) (private_property_identifier)] @ref.call))
(new_expression constructor: (identifier) @ref.instantiation)
(new_expression constructor: (member_expression object: (_) @on property: (property_identifier) @ref.instantiation))
(extends_clause value: (identifier) @ref.extends)
(extends_clause value: (member_expression object: (_) @on property: (property_identifier) @ref.extends))
(extends_type_clause type: (type_identifier) @ref.extends)
(extends_type_clause type: (generic_type name: (type_identifier) @ref.extends))
(implements_clause (type_identifier) @ref.implements)
(implements_clause (generic_type name: (type_identifier) @ref.implements))
(decorator (identifier) @ref.call)
(decorator (call_expression function: (identifier) @ref.call))

; What comes from elsewhere
(import_statement (import_clause (identifier) @import.default) source: (string (string_fragment) @import.module))
(import_statement (import_clause (namespace_import (identifier) @import.alias)) source: (string (string_fragment) @import.module))
(import_statement (import_clause (named_imports (import_specifier name: (identifier) @import.name alias: (identifier)? @import.alias))) source: (string (string_fragment) @import.module))
(export_statement (export_clause (export_specifier name: (identifier) @import.name alias: (identifier)? @import.alias)) source: (string (string_fragment) @import.module)) @reexport
(export_statement "*" @import.all source: (string (string_fragment) @import.module)) @reexport
(import_statement (import_require_clause (identifier) @import.alias source: (string (string_fragment) @import.module)))

; What a name may mean instead
(required_parameter pattern: (identifier) @local)
(optional_parameter pattern: (identifier) @local)
(arrow_function parameter: (identifier) @local)
(rest_pattern (identifier) @local)
(shorthand_property_identifier_pattern) @local
(pair_pattern value: (identifier) @local)
(array_pattern (identifier) @local)
(assignment_pattern left: (identifier) @local)
(variable_declarator name: (identifier) @local)
(assignment_expression left: (identifier) @local)
(catch_clause parameter: (identifier) @local)
(for_in_statement left: (identifier) @local)
(statement_block) @scope
(arrow_function) @scope
(function_expression) @scope
