"""Sets of our own, made by a generator with a fixed seed: what no public data set asks.

Facts are made of names and values; each template says a thing in one way and asks for it in
another, as people do.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

SEED = 20260301


def words_of(words: str) -> tuple[str, ...]:
    return tuple(words.split())


_PEOPLE = words_of(
    "Mara Tom Ines Bela Chidi Dana Emil Farah Goran Hanna Igor Joana Kofi Lena Miro Nadia Oskar "
    "Petra Quentin Rosa Sami Tessa Uwe Vera Wanda Xenia Yusuf Zora"
)
_STRANGERS = words_of("Adaeze Bruno Carmen Dmitri Elif Fergus Gudrun Hiro Imani Jorge Katya Leif")
_THINGS = words_of(
    "billing search mailer ledger gateway catalog auth export thumbnail cart review invoice "
    "metrics chat profile"
)
_UNBUILT = words_of("telemetry podcast lottery weather voucher firmware")
_CITIES = words_of("Lyon Porto Bergen Graz Utrecht Cork Gdansk Bilbao Turku Brno Malmo Trento")
_WEEKDAYS = words_of("Monday Tuesday Wednesday Thursday Friday Saturday")
_COLOURS = words_of("blue green red yellow purple orange white black grey brown")
_FOODS = words_of("peanuts shellfish lupin celery mustard sesame kiwi strawberries gluten eggs")
_CARS = words_of("Volvo Dacia Skoda Fiat Toyota Honda Subaru Mazda")
_JOBS = words_of("welder nurse translator luthier pilot baker surveyor botanist")
_TOOLS = words_of("Jina Exa Postgres MySQL Redis Kafka NATS Qdrant Solr Celery")


@dataclass(frozen=True, slots=True)
class Template:
    """A fact in one wording and a question for it in another."""

    says: str
    asks: str
    values: tuple[str, ...]
    has_one_value: bool = True


_OF_PEOPLE = (
    Template(
        "{who}'s favourite colour is {value}.",
        "Which colour does {who} like best?",
        _COLOURS,
    ),
    Template("{who} lives in {value}.", "Where is {who}'s home?", _CITIES),
    Template("{who} works as a {value}.", "What does {who} do for a living?", _JOBS),
    Template(
        "{who} is allergic to {value}.",
        "What must {who} not eat?",
        _FOODS,
        has_one_value=False,
    ),
    Template("{who}'s car is a {value}.", "What does {who} drive?", _CARS),
    Template(
        "{who}'s dentist appointment is on {value}.",
        "When does {who} go to the dentist?",
        _WEEKDAYS,
    ),
)
_OF_THINGS = (
    Template(
        "The {who} service listens on port {value}.",
        "Which port does {who} use?",
        tuple(map(str, range(4000, 4400, 7))),
    ),
    Template("The {who} team deploys on {value}.", "On which day is {who} released?", _WEEKDAYS),
    Template(
        "The owner of the {who} service is {value}.",
        "Who is responsible for {who}?",
        _PEOPLE,
    ),
    Template(
        "The {who} service stores its rows in {value}.",
        "What database is behind {who}?",
        _TOOLS,
    ),
    Template(
        "The timeout of the {who} service is {value} seconds.",
        "How long does {who} wait before it gives up?",
        tuple(map(str, range(3, 90, 4))),
    ),
)
_ELSEWHERE = (
    "How tall is the tower on the market square?",
    "Which medicine did the vet prescribe for the rabbit?",
    "Who won the chess tournament in Riga?",
    "What is the wifi password of the summer cabin?",
    "Did the choir choose a piece for Christmas?",
    "How many chapters does the thesis have?",
    "Which visa is needed for Mongolia?",
    "What was the name of the hotel in Kyoto?",
    "When does the swimming pool close?",
    "How do I descale the espresso machine?",
    "Which tyre pressure did the mechanic recommend?",
    "What is the interest on the savings account?",
    "Where did grandfather hide the violin?",
    "How much flour goes into the brioche?",
    "Who wrote the foreword of the atlas?",
    "What is the maximum load of the crane?",
    "Which seeds were sown in the greenhouse?",
    "When was the roof of the barn repaired?",
    "What did the lawyer say about the inheritance?",
    "How long is the tunnel under the river?",
)


@dataclass(frozen=True, slots=True)
class Fact:
    """Something said once, and how it is asked for."""

    id: str
    text: str
    question: str


@dataclass(frozen=True, slots=True)
class Change:
    """A fact that another one takes the place of."""

    old: Fact
    new: Fact
    stated: str
    """The change in words that say that it is one."""


def facts(count: int = 120) -> list[Fact]:
    """Facts about different matters."""
    chance = random.Random(SEED)
    matters = [(who, each) for each in _OF_PEOPLE for who in _PEOPLE]
    matters += [(who, each) for each in _OF_THINGS for who in _THINGS]
    chosen = chance.sample(matters, count)
    return [
        _fact(f"f{number}", who, template, chance.choice(template.values))
        for number, (who, template) in enumerate(chosen)
    ]


def unknown(count: int = 100) -> list[str]:
    """Questions that no fact answers: of strangers, of things not built, of other matters."""
    chance = random.Random(SEED + 1)
    of_strangers = [each.asks.format(who=who) for each in _OF_PEOPLE for who in _STRANGERS]
    of_strangers += [each.asks.format(who=who) for each in _OF_THINGS for who in _UNBUILT]
    chosen = chance.sample(of_strangers, count - len(_ELSEWHERE))
    return [*chosen, *_ELSEWHERE]


def changes(count: int = 40) -> list[Change]:
    """Facts with one value at a time, each with a second value."""
    chance = random.Random(SEED + 2)
    matters = [(who, each) for each in _OF_PEOPLE if each.has_one_value for who in _PEOPLE]
    matters += [(who, each) for each in _OF_THINGS for who in _THINGS]
    return [
        _change(number, who, template, *chance.sample(template.values, 2))
        for number, (who, template) in enumerate(chance.sample(matters, count))
    ]


def _fact(id_: str, who: str, template: Template, value: str) -> Fact:
    return Fact(id_, template.says.format(who=who, value=value), template.asks.format(who=who))


def _change(number: int, who: str, template: Template, before: str, after: str) -> Change:
    old = _fact(f"old{number}", who, template, before)
    new = _fact(f"new{number}", who, template, after)
    forms = (
        "Actually, {now} now, not {before}.",
        "Update: {now} instead of {before}.",
        "{now} now, no longer {before}.",
    )
    now = new.text.removesuffix(".")
    stated = forms[number % len(forms)].format(now=now, before=before)
    return Change(old, new, stated)


def east() -> Iterator[Fact]:
    """Chinese, Japanese, Korean and Thai."""
    told = (
        ("会议室的投影仪密码是七三一九。", "投影仪的密码是多少"),
        ("小李每周三去医院复查眼睛。", "小李哪天去看眼睛"),
        ("新仓库在青岛港的东门旁边。", "仓库在哪里"),
        ("我们用腾讯云的国内节点部署用户服务器。", "用户服务器部署在哪"),
        ("王老师的猫叫豆包,今年五岁。", "豆包几岁了"),
        ("退款需要财务和客服两个人签字。", "退款要谁签字"),
        ("年会定在十二月十八日,地点是西湖宾馆。", "年会在什么地方"),
        ("打印机卡纸的时候要先打开后盖。", "打印机卡纸怎么办"),
        ("会議室の予約は総務の佐藤さんに頼みます。", "会議室の予約は誰に頼む"),
        ("本番サーバーは大阪リージョンにあります。", "本番サーバーはどこ"),
        ("娘のピアノの発表会は六月二日です。", "ピアノの発表会はいつ"),
        ("冷蔵庫の牛乳は火曜日に届きます。", "牛乳が届く曜日"),
        ("祖母の誕生日には柚子のケーキを焼きます。", "祖母の誕生日に何を焼く"),
        ("今日は友達と成語しりとりをした。", "しりとりをしたのは誰と"),
        ("배포는 매주 목요일 오후에 합니다.", "배포는 언제"),
        ("우리 강아지 이름은 보리입니다.", "강아지 이름"),
        ("오늘 친구와 끝말잇기 게임을 했다.", "끝말잇기 누구와 했나"),
        ("부산 사무실 열쇠는 관리실에 있다.", "사무실 열쇠 어디"),
        ("เราใช้ฐานข้อมูลที่กรุงเทพ", "ฐานข้อมูลอยู่ที่ไหน"),
        ("ร้านกาแฟปิดทุกวันจันทร์", "ร้านกาแฟปิดวันไหน"),
    )
    for number, (text, question) in enumerate(told):
        yield Fact(f"e{number}", text, question)


def identifiers() -> Iterator[Fact]:
    """Names and paths of code, asked for whole, in part, and in another spelling."""
    told = (
        ("getUserProfile caches the row for five minutes.", "get user profile cache"),
        ("parse_invoice_header fails on an empty VAT field.", "parseInvoiceHeader"),
        ("The retry lives in src/net/backoff.rs, function next_delay.", "src/net/backoff.rs"),
        ("HTTP_PROXY_TIMEOUT_MS is read once at start.", "proxy timeout setting"),
        ("ticket OC-41252 is about pre-edit-check", "OC-41252"),
        ("We pinned gpt-4o for the summaries.", "gpt-4o"),
        ("error E0502 came from Frame::drain in frame.rs:88", "E0502"),
        ("tests/unit/test_cart.py::test_empty_cart is flaky", "test_empty_cart"),
        ("The flag --no-color must be passed to ls-files.", "--no-color"),
        ("kubectl rollout restart deploy/api-gateway fixed it", "rollout restart api-gateway"),
        ("commit 9f3c2ab7 removes the legacy XMLParser", "9f3c2ab7"),
        ("MAX_UPLOAD_MB was raised from 25 to 40", "maxUploadMb"),
        ("the S3 bucket is eu-north-1/acme-raw-logs", "acme-raw-logs"),
        (
            "IPv6 address fe80::1ff:fe23:4567:890a belongs to the printer",
            "fe80::1ff:fe23:4567:890a",
        ),
        ("WidgetFactoryImpl is created in AppModule.kt", "widget factory impl"),
        ("use numpy.linalg.lstsq, not numpy.linalg.solve", "linalg.lstsq"),
        ("version 2.4.1-rc.3 broke Safari", "2.4.1-rc.3"),
        ("~/.config/tool/settings.toml holds the token path", "settings.toml token"),
        ("the cron job 'nightly_reindex' takes forty minutes", "nightlyReindex"),
        ("CVE-2026-11873 affects libfoo before 3.2", "CVE-2026-11873"),
    )
    for number, (text, question) in enumerate(told):
        yield Fact(f"i{number}", text, question)
