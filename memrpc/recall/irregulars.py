"""English forms that no rule relates, one group a line, the representative first.

Irregular verbs and nouns, everyday synonyms, and the abbreviations of the trade.
"""

from __future__ import annotations

from typing import Final

_GROUPS: Final = """
be am is are was were been being
begin began begun beginning start
bend bent
bite bit bitten
blow blew blown
break broke broken
bring brought
build built
burn burnt
buy bought purchase purchased purchases purchasing
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
find found discover discovered discovers discovering
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
live lives lived living
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
photo photograph picture pic pics
film movie
bicycle bike
television tv telly
telephone phone
electric electrical electrician electricians electricity
mortgage loan
refrigerator fridge
advertisement ad ads advert
laboratory lab
mathematics math maths
examination exam
favourite favorite fave fav favs
colour color
neighbour neighbor
centre center
theatre theater
travel trip journey
good better best
bad worse worst
hobby hobbies pastime
job occupation profession
big large
decide decision
believe belief
advise advice
describe description
succeed success successful
explain explanation
destroy destruction
compete competition competitive competitor
solve solution
repeat repetition
analyse analysis analyze analyses
born birth birthday bday
strong strength
long length
high height
wide width
deep depth
true truth
young youth
hot heat
angry anger
hungry hunger
free freedom
wise wisdom
able ability
festival fest
vacation holiday holidays
stress destress stressful
mentor mentorship
doctor physician
car automobile
dog puppy dogs puppies pup
cat kitten kittens
sick ill illness sickness
end finish finished
baby infant newborn
house home
husband hubby
boyfriend bf
girlfriend gf
sister sis
brother bro
university uni
information info
repository repo repos
configuration config configure configured conf
authentication auth authenticate
database db
environment env
directory dir folder folders
parameter param params
argument arg args
documentation docs
administrator admin
asynchronous async
synchronize sync
library lib
message msg
initialize init initialise initialization
string str
integer int
dictionary dict dicts
number num
regex regexp
delete remove del rm deletion removal
maximum max
minimum min
average avg
length len
index idx
value val
variable var
temporary temp tmp
execute exec
character char
boolean bool
generate gen
object obj
dataframe df
column col cols
numpy np
pandas pd
function func fn
calculate calc compute calculation computation
command cmd
count cnt
context ctx
source src
destination dst dest
position pos
previous prev
current cur curr
buffer buf
pointer ptr
random rand
error err
request req
response resp
reference ref
specification spec
address addr
attribute attr attrs
button btn
matrix mat
vector vec
difference diff
application app apps
identifier id ids
version ver
sequence seq
iterate iter
separator sep
expression expr
statement stmt
transaction txn
kubernetes k8s
javascript js
python py
postgresql postgres pg
markdown md
concatenate concat
array arr
convert conversion converter
production prod
development dev
performance perf
password passwd pwd
certificate cert
permission perm perms
package pkg
table tbl
hexadecimal hex
utility util utils
statistics stats
coordinate coord coords
dimension dim dims
frequency freq
language lang
image img
text txt
"""


def _lemmas() -> dict[str, str]:
    groups = [line.split() for line in _GROUPS.split("\n") if line]
    return {form: group[0] for group in groups for form in group[1:]}


LEMMAS: Final = _lemmas()
"""Each irregular form with the member of its group that stands for all of them."""
