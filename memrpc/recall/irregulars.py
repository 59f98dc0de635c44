"""Irregular English forms and everyday synonyms, one group a line, the representative first."""

from __future__ import annotations

from typing import Final

_GROUPS: Final = """
be am is are was were been being
begin began begun start
bend bent
bite bit bitten
blow blew blown
break broke broken
bring brought
build built
burn burnt
buy bought
catch caught
choose chose chosen choice
come came
creep crept
deal dealt
die died death dead
dig dug
do did done does
draw drew drawn drawing
dream dreamt
drink drank drunk
drive drove driven
eat ate eaten
fall fell fallen
feed fed
feel felt feeling
fight fought
find found
flee fled
fly flew flown flight
forget forgot forgotten
forgive forgave forgiven
freeze froze frozen
get got gotten
give gave given gift
go went gone goes
grow grew grown growth
hang hung
have has had
hear heard
hide hid hidden
hold held
keep kept
know knew known knowledge
lead led
learn learnt
leave left
lend lent
light lit
lose lost loss
make made
marry married marriage wedding
mean meant
meet met meeting
mistake mistook mistaken
pay paid payment
prove proven
ride rode ridden
ring rang rung
rise rose risen
run ran
say said
see saw seen
seek sought
sell sold sale
send sent
sew sewn
shake shook shaken
shine shone
shoot shot
show shown
shrink shrank shrunk
sing sang sung song
sink sank sunk
sit sat
sleep slept asleep
slide slid
speak spoke spoken speech
spend spent
spin spun
stand stood
steal stole stolen
stick stuck
sting stung
strike struck
swear swore sworn
sweep swept
swim swam swum
swing swung
take took taken
teach taught teacher
tear tore torn
tell told
think thought
throw threw thrown
understand understood
wake woke woken
wear wore worn
weep wept
win won winner
withdraw withdrew withdrawn
write wrote written writing
child children kid kids
man men
woman women
person people
foot feet
tooth teeth
mouse mice
goose geese
life lives
wife wives
knife knives
leaf leaves
half halves
shelf shelves
thief thieves
self selves
mother mum mom mommy mummy mama
father dad daddy papa
grandmother grandma granny
grandfather grandpa
photo photograph picture pic pics image
film movie
bicycle bike
television tv telly
telephone phone
refrigerator fridge
advertisement ad ads advert
laboratory lab
mathematics math maths
examination exam
favourite favorite fave
colour color
neighbour neighbor
centre center
theatre theater
travel trip journey
birthday bday
good better best
bad worse worst
hobby hobbies pastime
job occupation profession
big large
"""


def _lemmas() -> dict[str, str]:
    groups = [line.split() for line in _GROUPS.split("\n") if line]
    return {form: group[0] for group in groups for form in group[1:]}


LEMMAS: Final = _lemmas()
"""Each irregular form with the member of its group that stands for all of them."""
