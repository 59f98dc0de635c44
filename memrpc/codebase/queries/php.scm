; Declarations
(function_definition name: (name) @name) @def.function
(method_declaration name: (name) @name) @def.method
(class_declaration name: (name) @name) @def.class
(interface_declaration name: (name) @name) @def.interface
(trait_declaration name: (name) @name) @def.interface
(enum_declaration name: (name) @name) @def.enum
(enum_case name: (name) @name) @def.constant
(const_declaration (const_element (name) @name) @def.constant)
(property_declaration (property_element name: (variable_name (name) @name)) @def.property)
(class_declaration name: (name) @owner body: (declaration_list (method_declaration (formal_parameters (property_promotion_parameter name: (variable_name (name) @name)) @def.property))))
(comment) @comment
(attribute_list) @attribute

; Visibility
(method_declaration (visibility_modifier "private")) @private
(property_declaration (visibility_modifier "private") (property_element) @private)
(property_promotion_parameter (visibility_modifier "private")) @private

; Uses
(function_call_expression function: (name) @ref.call)
(function_call_expression function: (qualified_name (name) @ref.call))
(member_call_expression object: (_) @on name: (name) @ref.call)
(nullsafe_member_call_expression object: (_) @on name: (name) @ref.call)
(scoped_call_expression scope: (_) @on name: (name) @ref.call)
(object_creation_expression (name) @ref.instantiation)
(object_creation_expression (qualified_name (name) @ref.instantiation))
(base_clause (name) @ref.extends)
(base_clause (qualified_name (name) @ref.extends))
(class_interface_clause (name) @ref.implements)
(use_declaration (name) @ref.implements)
(attribute (name) @ref.call)

; What comes from elsewhere
(namespace_use_clause (qualified_name prefix: (_) @import.module (name) @import.name) alias: (name)? @import.alias)
(namespace_use_declaration (namespace_name) @import.module body: (namespace_use_group (namespace_use_clause (name) @import.name alias: (name)? @import.alias)))

(compound_statement) @scope
(anonymous_function) @scope
