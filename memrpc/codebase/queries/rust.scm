; Declarations
(function_item name: (identifier) @name) @def.function
(function_signature_item name: (identifier) @name) @def.function
(struct_item name: (type_identifier) @name) @def.class
(union_item name: (type_identifier) @name) @def.class
(enum_item name: (type_identifier) @name) @def.enum
(enum_variant name: (identifier) @name) @def.constant
(trait_item name: (type_identifier) @name) @def.interface
(type_item name: (type_identifier) @name) @def.type
(const_item name: (identifier) @name) @def.constant
(static_item name: (identifier) @name) @def.variable
(mod_item name: (identifier) @name body: (_)) @def.module
(macro_definition name: (identifier) @name) @def.function
(field_declaration name: (field_identifier) @name) @def.property
(impl_item type: (type_identifier) @owner) @container
(impl_item type: (generic_type type: (type_identifier) @owner)) @container
(impl_item type: (scoped_type_identifier name: (type_identifier) @owner)) @container
(impl_item type: (generic_type type: (scoped_type_identifier name: (type_identifier) @owner))) @container
(impl_item type: (reference_type type: (type_identifier) @owner)) @container
(line_comment) @comment
(block_comment) @comment
(attribute_item) @attribute

; Visibility
(_ (visibility_modifier) @_v) @exported
(macro_definition) @exported
(trait_item body: (declaration_list (_) @exported))
(impl_item trait: (_) body: (declaration_list (_) @exported))
(enum_variant) @exported

; Uses
(call_expression function: (identifier) @ref.call)
(call_expression function: (scoped_identifier path: (_) @on name: (identifier) @ref.call))
(call_expression function: (field_expression value: (_) @on field: (field_identifier) @ref.call))
(call_expression function: (generic_function function: (identifier) @ref.call))
(call_expression function: (generic_function function: (scoped_identifier path: (_) @on name: (identifier) @ref.call)))
(call_expression function: (generic_function function: (field_expression value: (_) @on field: (field_identifier) @ref.call)))
(macro_invocation macro: (identifier) @ref.call)
(struct_expression name: (type_identifier) @ref.instantiation)
(struct_expression name: (scoped_type_identifier path: (_) @on name: (type_identifier) @ref.instantiation))
(impl_item trait: (type_identifier) @ref.implements)
(impl_item trait: (generic_type type: (type_identifier) @ref.implements))
(trait_bounds (type_identifier) @ref.extends)

; What comes from elsewhere
(use_declaration argument: (_) @use)

; What a name may mean instead
(parameter pattern: (identifier) @local)
(let_declaration pattern: (identifier) @local)
(let_declaration pattern: (tuple_pattern (identifier) @local))
(closure_parameters (identifier) @local)
(for_expression pattern: (identifier) @local)
(block) @scope
(closure_expression) @scope
