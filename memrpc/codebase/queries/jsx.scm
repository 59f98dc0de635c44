; Uses in JSX: a small letter is an element of the document's own
((jsx_opening_element name: (identifier) @ref.call) (#match? @ref.call "^[A-Z_$]"))
((jsx_self_closing_element name: (identifier) @ref.call) (#match? @ref.call "^[A-Z_$]"))
(jsx_opening_element name: (member_expression object: (_) @on property: (property_identifier) @ref.call))
(jsx_self_closing_element name: (member_expression object: (_) @on property: (property_identifier) @ref.call))
