"""Words of several languages and ways in which numbers are written, for the contents of the corpus."""

from __future__ import annotations

import random
from dataclasses import dataclass

from tests.tables.corpus.case import Value


@dataclass(frozen=True)
class Vocabulary:
    """A header of three names (a place, an amount, a remark), and words for places and remarks."""

    header: tuple[str, str, str]
    places: tuple[str, ...]
    remarks: tuple[str, ...]


def words_of(text: str) -> tuple[str, ...]:
    """Return the words between the bars of a text."""
    return tuple(text.split("|"))


def _vocabulary(header: str, places: str, remarks: str) -> Vocabulary:
    place, amount, remark = header.split("|")
    return Vocabulary((place, amount, remark), words_of(places), words_of(remarks))


LANGUAGES = {
    "de": _vocabulary(
        "Straße|Erlös|Bemerkung",
        "Köln|Würzburg|Göttingen|Düsseldorf|Saarbrücken|Gießen|Lübeck|Münster",
        "geprüft|für später zurückgestellt|„dringend“ – bitte prüfen|Rückläufer|übergeben|10 € Gebühr",
    ),
    "fr": _vocabulary(
        "Région|Coût|Catégorie",
        "Orléans|Besançon|Nîmes|Angoulême|Saint-Étienne|Béziers|Sète",
        "très élevé|à vérifier|déjà payé|reçu à l’hôtel|œuvre d’art|forêt et pâturage",
    ),
    "es": _vocabulary(
        "Población|Tamaño|Descripción",
        "Cáceres|Logroño|Málaga|Ávila|Jaén|Almería|León",
        "año pasado|señalización|¿pendiente?|camión averiado|está aquí|niños",
    ),
    "pl": _vocabulary(
        "Miejscowość|Ilość|Uwagi",
        "Łódź|Gdańsk|Wrocław|Poznań|Częstochowa|Białystok|Świnoujście",
        "zapłacono już|późniejsza wysyłka|brak części|żółta łódź|główny dostawca|więcej szczegółów",
    ),
    "cs": _vocabulary(
        "Město|Počet|Poznámka",
        "Plzeň|Třebíč|Děčín|Břeclav|Žďár nad Sázavou|Přerov|Jičín",
        "zaplaceno předem|později|není skladem|příští týden|dodáno včera|účet čeká na úhradu",
    ),
    "hu": _vocabulary(
        "Település|Összeg|Megjegyzés",
        "Győr|Székesfehérvár|Hódmezővásárhely|Pécs|Kőszeg|Nyíregyháza",
        "később fizetve|sürgős küldés|elküldött levél|több részletben|első féléves főösszeg",
    ),
    "ru": _vocabulary(
        "Город|Продажи|Примечание",
        "Москва|Казань|Екатеринбург|Ярославль|Пермь|Нижний Новгород|Омск",
        "оплачено полностью|ожидает отправки|возврат товара|новый покупатель|срочный заказ",
    ),
    "uk": _vocabulary(
        "Місто|Кількість|Примітка",
        "Київ|Харків|Львів|Чернівці|Запоріжжя|Ужгород|Рівне",
        "сплачено вчора|очікує підтвердження|їжа та напої|новий клієнт|повернення",
    ),
    "zh-cn": _vocabulary(
        "城市|销售额|备注",
        "北京|上海|广州|深圳|成都|杭州|西安",
        "已付款，等待发货|客户要求开发票|退货处理中|新客户首次订单|库存不足",
    ),
    "zh-tw": _vocabulary(
        "縣市|銷售額|備註",
        "臺北市|高雄市|臺中市|臺南市|新竹縣|桃園市|宜蘭縣",
        "已付款，等待出貨|客戶要求開立發票|退貨處理中|新客戶首次訂單|庫存不足|許可已核發",
    ),
    "ja": _vocabulary(
        "都市|売上|備考",
        "東京都|大阪府|名古屋市|札幌市|福岡県|横浜市|仙台市",
        "支払い済み、発送待ち|在庫が不足しています|返品を処理中|新しいお客様です|予約表示あり",
    ),
    "ko": _vocabulary(
        "도시|매출|비고",
        "서울|부산|대구|인천|광주|대전|울산",
        "결제 완료, 배송 대기|재고가 부족합니다|반품 처리 중|새로운 고객입니다|긴급 주문",
    ),
    "tr": _vocabulary(
        "Şehir|Satış|Açıklama",
        "İstanbul|Eskişehir|Şanlıurfa|Muğla|Iğdır|Çanakkale|Diyarbakır",
        "ödeme yapıldı|teslimat gecikti|ağır yük taşındı|yeni müşteri kaydı|şubeye gönderildi|aşağıdaki değişiklikler",
    ),
    "el": _vocabulary(
        "Πόλη|Πωλήσεις|Σημείωση",
        "Αθήνα|Θεσσαλονίκη|Πάτρα|Ηράκλειο|Λάρισα|Βόλος|Ιωάννινα",
        "εξοφλήθηκε πλήρως|αναμένεται αποστολή|νέος πελάτης|επιστροφή προϊόντος|επείγουσα παραγγελία",
    ),
    "en": _vocabulary(
        "Town|Amount|Remark",
        "Leeds|Bath|Carlisle|Durham|Truro|Ely|Wells|York",
        "paid in full|waiting for parts|customer called twice|returned|new supplier|urgent",
    ),
}


def seeded(name: str) -> random.Random:
    """Return a generator whose values depend on the name alone."""
    return random.Random(name)


def rows_of(language: str, count: int, wide: bool = False) -> list[list[Value]]:
    """Return rows of a place, a whole number and a remark; with `wide`, of a code and an amount before them, too."""
    words, numbers = LANGUAGES[language], seeded(f"{language}{count}")
    rows: list[list[Value]] = []
    for n in range(count):
        place = words.places[n] if n < len(words.places) else numbers.choice(words.places)
        remark = words.remarks[n] if n < len(words.remarks) else numbers.choice(words.remarks)
        front: list[Value] = [f"AB-{n + 17:03}", round(numbers.uniform(-50, 9000), 2)] if wide else []
        rows.append([*front, place, numbers.randint(10, 9000), remark])
    return rows


def header_of(language: str, wide: bool = False) -> tuple[str, ...]:
    """Return the names of the columns of `rows_of`."""
    return ("Code", "EUR", *LANGUAGES[language].header) if wide else LANGUAGES[language].header


def grouped(value: float, places: int, group: str, decimal: str) -> str:
    """Return a number with a mark between groups of three digits and a decimal mark."""
    text = f"{value:,.{places}f}"
    return text.replace(",", "\0").replace(".", decimal).replace("\0", group)


def indian(value: int) -> str:
    """Return a whole number in lakhs and crores, such as 12,34,567."""
    head, tail = str(value)[:-3], str(value)[-3:]
    while len(head) > 2:
        head, tail = head[:-2], f"{head[-2:]},{tail}"
    return f"{head},{tail}" if head else tail
