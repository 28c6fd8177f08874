"""Units of measure, and labels that turn a number into a name. This module contains only data, separated by spaces."""

from __future__ import annotations

from typing import Final

LATIN_UNITS: Final = """
    a ah bar bucks c cal calories celsius cent cents chf cm day days degree degrees dm dollar dollars dpi eur euro
    euros f fahrenheit feet foot ft fuss g gallon gallons gb gbit gbp ghz grad gramm grammes h ha hour hours hpa hr
    hrs hz in inch inches j jahr jahre jahren joule joules k kb kcal kelvin kg khz kilo kilogram kilogramm kilograms
    kilometer kilometern kilometers kilometre kilometres kj km kmh knoten knots kw kwh l lb lbs liter litern liters
    litre litres m ma mah mal mb mbit mbps meile meilen meter metern meters metre metres mg mhz mi mile miles min
    minute minutes ml mm mmol mol monat monate monaten month months mph mps mv mwh newton ohm ounce ounces oz pa pct
    people percent personen pfund pixel pixels pound pounds ppm prozent prozentpunkte px qm rmb s sec second seconds
    sekunde sekunden sqm stueck stunde stunden t tag tage tagen tb times ton tonne tonnes tons usd v volt volts w
    watt watts week weeks wh woche wochen yard yards yd year years yen zoll
"""
"""Units that follow a number, in languages with the Latin alphabet."""

CHINESE_UNITS: Final = """
    元 块 万 亿 千 伏 安培 瓦 千瓦 欧姆 焦耳 牛顿 帕 卡路里 千卡 公里 千米 米 厘米 毫米 斤 公斤
    千克 克 吨 升 毫升 立方 平方 度 小时 分钟 分 秒 天 周 个月 月
    年 倍 折 成 英里 英尺 英寸 美元 欧元 港币 华氏 摄氏 海里 kg km cm g
"""
"""Units that follow a number in Chinese; the text after the number starts with one of them."""

LABELS: Final = """
    article artikel chapter code error figure http iphone kapitel level line page paragraph phase port raum room
    schritt section seite step table top unit version windows zeile
"""
"""Words after which a number is a name ("room 204") and not a quantity."""
