"""The words a decision on code execution looks for, in English, German and Chinese. Data alone.

Whole words or phrases, parted by commas; `*` leaves an end open. Lower case, no punctuation, umlauts written out
(`ae`, `oe`, `ue`, `ss`). Chinese has no spaces, so its words are found anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

WORDS: Final[Mapping[str, str]] = {
    # for
    "calculate": """
        calculate, calculates, calculation, compute, calc, solve, work out the, work out how, add up,
        sum up the numbers, how do the numbers, what does it come to, simplify, factorise, factorize, integrate,
        differentiate, berechn*, ausrechn*, rechne, rechnest, rechnen, nachrechn*, ausgerechnet, loese, loes,
        bestimme, ermittle, ermitteln, hochrechn*, vereinfache,
        计算, 求解, 解方程, 解不等式, 方程组, 算一下, 算算, 算出, 算一算, 算总, 算下, 再算, 帮我算, 化简, 因式分解,
        求出, 求函数, 求导, 求和, 估算, 估计
    """,
    "graph": """
        chart, charts, *chart, graph, graphs, histogram, scatter, scatterplot, boxplot, heatmap, plot, plots, plotted,
        plotting, curve, visuali*, *diagramm, *diagramme, *histogramm, schaubild, graphen, graph der, kurve, plotte,
        plotten, grafisch, graphisch,
        图像, 折线图, 柱状图, 条形图, 饼图, 散点图, 直方图, 箱线图, 热力图, 曲线, 画图, 画出, 作图, 绘制, 可视化,
        图表, 画个图
    """,
    "draw": """
        draw, sketch, zeichne, zeichnen, skizzier*, stell *, stelle,
        画, 作出
    """,
    "plot of a story": """
        plot of, plot twist, plot summary, plot hole, plot holes, the plot in, org chart, flow chart, flowchart,
        chart hits, the charts, plot for
    """,
    "run": """
        run this, run it, run the code, run that, execute this, execute the, execute it, what does this output,
        what does this print, what does it print, what will this print, what does this code print,
        what does this return, what is the output, use python to, use code, fuehr das, fuehre das, fuehre den,
        fuehr den, fuehre diesen, fuehre folgenden, was gibt das aus, was gibt dieser code, was gibt der code,
        was kommt da raus, lass das laufen,
        运行这, 运行一下, 运行下, 执行这, 执行一下, 输出什么, 输出结果, 输出是, 跑一下, 用python算, 用代码算
    """,
    "simulate": """
        simulate, simulation, monte carlo, simulier*,
        模拟, 蒙特卡洛, 蒙特卡罗, 仿真
    """,
    "term": """
        derivative, integral, limit of, determinant, eigenvalue*, eigenvector*, inverse matrix, inverse of, matrix,
        roots of, root of, square root, prime, primes, factorial, prime factor*, gcd, lcm, fibonacci, average, mean,
        median, variance, standard deviation, std, stdev, correlation, regression, linear fit, fit a, best fit, slope,
        trend, outlier*, percentile, quartile, p value, t test, chi square, confidence interval, margin of error,
        significan*, logarithm, modulo, digit of, digits of, decimal places, sequence, binomial, normal distribution,
        ableitung, *integral, stammfunktion, grenzwert, nullstelle*, determinante, eigenwert*, primzahl*, primfaktor*,
        fakultaet, ggt, kgv, *durchschnitt*, mittelwert*, im schnitt, schnitt, varianz, standardabweichung,
        korrelation, ausreisser*, quartil*, signifikant*, konfidenz*, wurzel, logarithmus, nachkommastellen,
        binomial*, normalverteilung, gleichungssystem, gleichung, quersumme,
        导数, 积分, 极限, 行列式, 特征值, 逆矩阵, 矩阵, 质数, 素数, 完全数, 阶乘, 次方, 平方根, 开方, 最大公约数,
        最小公倍数, 斐波那契, 平均, 中位数, 众数, 方差, 标准差, 相关性, 相关系数, 回归, 拟合, 异常值, 显著, 置信区间,
        对数, 余数, 数列, 等差, 等比, 零点, 方程, 正态分布, 定积分, 总分, 均值
    """,
    "chance": """
        probab*, chance, chances, likely, likelihood, odds, dice, coin, coins, toss*, heads, urn, marbles, deck,
        lottery, roulette, raffle, how many ways, arrangement*, permutation*, combination*, wahrscheinlich*, wuerfel*,
        muenz*, urne, kugeln, lotto, lotterie, moeglichkeiten, anordnung*, kombination*,
        概率, 可能性, 几率, 骰子, 硬币, 摸出, 抽到, 扑克, 彩票, 中奖, 排法, 种方法, 种可能, 排列, 组合
    """,
    "asks": """
        how much, how many, how long, how far, how tall, how high, how old, how fast, how often, how big, how heavy,
        how deep, how wide, how late, how likely, what percentage, what percent, what fraction, what share,
        what do i have, what will i have, what would i, what will i, what do i, what time, what angle, what volume,
        what is the total, what s the total, in total, altogether, when do, when will, when is, when does, when are,
        by how, what margin, total cost, extra cost, what s left, how little, what rate, what speed,
        will it be enough, is that enough, how close, wie viel*, wieviel*, wie lange, wie hoch, wie gross, wie weit,
        wie oft, wie alt, wie schwer, wie schnell, wie tief, wie breit, wie teuer, wie stark, was kostet, was kosten,
        was bleibt, was zahlt, was zahle, was zahlen, was spare, was macht das, was ergibt, insgesamt, wann,
        gesamtsumme, was krieg*, was bekomm*, reicht, reichen, what do, what year, which year,
        多少, 几小时, 几点, 几天, 几个, 几次, 几只, 几折, 几年, 几分钟, 几倍, 几斤, 几米, 各几, 要几, 多久, 多长,
        多大, 多高, 多远, 多重, 多快, 多深, 总共, 一共, 还剩, 够不够, 够吗, 什么时候, 第几
    """,
    "compares": """
        cheaper, cheapest, better deal, better off, worse off, worth it, is worth, pays off, save, saves, savings,
        saving, break even, more expensive, lohnt, lohnen, guenstiger, billiger, teurer, spar*, rentiert, rechnet sich,
        划算, 便宜, 合算, 省钱, 省多少, 能省, 赚, 亏, 更贵, 差多少, 多多少, 少多少, 值不值
    """,
    "compares loosely": """
        which is better, which one, difference, compare, compared, versus, more than, faster, slower, better, besser,
        mehr, unterschied, schneller, langsamer, vergleich*,
        更快, 更多, 哪个, 哪家, 哪种, 省
    """,
    "wonders": """
        what is, what s, whats, was ist, was sind,
        是什么
    """,
    "counts units": """
        how many seconds, how many minutes, how many inches, how many feet, how many ounces, how many meters,
        how many metres, how many millimeters, how many grams, how many centimeters, how many bytes, how many bits,
        how many teaspoons, how many tablespoons, wie viele sekunden, wie viele minuten, wieviele sekunden,
        wieviele minuten, wie viele meter, wie viele gramm, wie viele zentimeter, wie viele millimeter,
        wie viele bytes,
        多少秒, 多少分钟, 多少厘米, 多少毫米, 多少克, 多少毫升, 多少字节, 多少英寸
    """,
    "finance": """
        interest, invest, invested, investing, investment, mortgage, loan, compound, monthly payment, returns, return,
        inflation, dividend, deposit, salary, tax, vat, tip, discount, margin, profit, roi, apr, per year, fund,
        *zins*, kredit*, *rate, tilgung, anlege, anlegen, rendite, brutto*, netto*, mwst, mehrwertsteuer, rabatt,
        trinkgeld, gewinn, eigenkapital, rente, sparplan, einzahl*, gehalt, *steuer*,
        利率, 贷款, 房贷, 月供, 复利, 本金, 利息, 年化, 定投, 税前, 税后, 到手, 工资, 扣, 打折, 原价, 涨, 跌, 利润,
        收益, 首付, 公积金, 折
    """,
    "rate": """
        per, a day, a month, a year, a week, an hour, each, every, apiece, daily, monthly, yearly, annually, kmh,
        km h, mph, pro, je, am tag, im monat, im jahr, pro jahr, jeden, jede, jeder, monatlich, jaehrlich, taeglich,
        die stunde, das kilo,
        每, 一天, 一个月, 年化
    """,
    "condition": """
        if, suppose, assuming, given, when i, what if, wenn, falls, angenommen,         如果, 假设, 假如, 要是, 按
    """,
    "science": """
        rectangle, triangle, circle, cylinder, sphere, cube, radius, diameter, perimeter, area, volume, angle, angles,
        shadow, hypotenuse, ladder, speed, distance, travels, meet, flight, consumption, solution, molar*,
        concentration, titrat*, ph, mass, force, acceleration, voltage, current, resistance, half life, double,
        doubles, tank, pool, fill, fills, bmi, dpi, tables, guests, bill, split, dilute*, dose, density, energy,
        rechteck*, dreieck*, kreis*, zylinder, kugel, wuerfel, durchmesser, umfang, flaeche, volumen, winkel,
        geschwindigkeit, entfernung, strecke, faehrt, zuege, zug, treffen, verbrauch*, verbraucht, loesung,
        konzentration, masse, kraft, strom*, leistung, halbwertszeit, verdoppel*, becken, akku, wirkungsgrad, defizit,
        schueler, fliessen, fliesst, tief, lang, breit, hoch, a train, trains, two trains,
        三角形, 长方形, 正方形, 圆, 半径, 直径, 周长, 面积, 体积, 容积, 斜边, 角度, 速度, 相距, 相遇, 追上, 追, 注水,
        放水, 注满, 装满, 油耗, 浓度, 溶液, 盐水, 生理盐水, 密度, 质量, 电压, 半衰期, 翻倍, 浪费, 零件, 工程, 合作,
        头, 体重, 身高, 剩下, 付, 买了, 时差, 零钱
    """,
    "calendar": """
        days until, days between, days from, how many days, how many weeks, weekday, weekdays, working days,
        business days, what day, which day, day of the week, in days, since, until, from now, local time, do i land,
        wie viele tage, wieviele tage, wie viele wochen, wochentag, arbeitstage, werktage, wievielte, tage liegen,
        in tagen, wie lange ist das, tag des jahres, tage bis, um wie viel uhr, ortszeit, kommt an,
        多少天, 几天, 星期几, 周几, 礼拜几, 过了多少, 工作日, 几点, 相隔, 距离
    """,
    "convert": """
        convert, converted, in metric, umrechn*, rechne, in metern, in celsius, in fahrenheit,
        换算, 等于多少, 是多少公里, 换成, 折合, 转换成
    """,
    "hash": """
        sha256 of, sha1 of, sha512 of, md5 of, crc32 of, hash of, checksum of, base64 of, sha256 von, sha1 von,
        md5 von, crc32 von, pruefsumme von, in binary, in hex, in hexadecimal, binaer, hexadezimal,
        roman numeral for, roman numerals for, in roman numerals, roemische zahl*, roemischen zahl*,
        的sha256, 的md5, 的哈希, 二进制, 十六进制, 罗马数字
    """,
    "count": """
        count the, how many times does, zaehle, zaehl,
        统计, 数一数, 出现了多少次
    """,
    "many": """
        two, three, four, five, six, seven, eight, nine, ten, eleven, twelve, dozen, hundred, thousand, million, half,
        third, quarter, fifth, twice, double, doubles, triple, zwei, drei, vier, fuenf, sechs, sieben, siebt, acht,
        neun, zehn, elf, zwoelf, hundert, tausend, haelfte, halb, doppelt, drittel, viertel, zu dritt, zu viert,
        zu fuenft, zu sechst,
        两万, 一万, 十万, 百万, 一半, 四分之, 三分之, 五分之, 两个, 两条, 三个, 两倍, 三倍, 八折, 九折, 七折
    """,
    "data": """
        analy*, trend, trends, sort, group by, filter, clean up, column, columns, row, rows, value, values, number,
        numbers, data, dataset, spreadsheet, csv, sales, revenue, per, by month, by quarter, by region, by year,
        total, totals, overview, distribution, highest, lowest, most, least, best, worst, largest, smallest, increase,
        drop, missing, duplicate*, customers, correlat*, biggest, top, spalte*, werte, wert, zahlen, daten, tabelle,
        *umsatz*, verkauf*, auswert*, uebersicht, pro, anzahl, summe, *verteilung, hoechst*, niedrigst*, meisten,
        wenigsten, schlechtest*, beste*, groesst*, kleinst*, fehlen, fehlende, doppelte, vergleich*, zusammenhang,
        haengen, haengt, sortier*, gruppier*, welcher, welche, welches, welchen, which,
        分析, 数据, 列, 行, 最高, 最低, 最多, 最少, 最大, 最小, 排序, 排, 总, 分布, 趋势, 异常, 缺失, 去重, 重复,
        分组, 统计, 相关, 对比, 增长, 下降, 销售, 各, 汇总, 哪
    """,
    "again": """
        now, instead, same, again, what if, what about, and for, and with, and if, without, make it a, make the,
        change the, add a, add the, colour, color, blue, red, green, black, orange, axis, axes, legend, label, labels,
        title, line, lines, bars, dots, bigger, log, logarithmic, zoom, redo, only, und jetzt, jetzt, und als,
        und wenn, und fuer, und mit, und bei, das gleiche, dasselbe, nochmal, noch mal, stattdessen, farbe*, rot,
        blau, gruen, schwarz, achse, achsen, legende, beschrift*, titel, linie, linien, balken, punkte, dicker,
        groesser, logarithmisch, ohne, nur,
        换成, 改成, 改为, 变成, 再画, 再算, 再来, 如果, 呢, 颜色, 红色, 蓝色, 绿色, 坐标, 轴, 图例, 标题, 加上, 去掉,
        重新, 同样, 放大, 线条
    """,
    # against
    "writes": """
        write, writing, draft, compose, tell me a, schreib, schreibe, schreiben sie, schreibst, entwerfen, entwirf,
        schreibt man, formulier*, verfass*, erzaehl, erzaehle, erzaehlt, entwerfen sie,
        写一, 写个, 写份, 写封, 写篇, 写首, 写段, 帮我写, 论述, 编一, 讲一个, 讲个
    """,
    "genres": """
        story, stories, poem, poetry, essay, email, e mail, letter, haiku, limerick, song, lyrics, speech, slogan,
        caption, blog, blog post, tweet, joke, jokes, dialogue, screenplay, novel, headline, ad, cover letter, toast,
        tagline, short story, chapter, gedicht, kurzgeschichte, maerchen, geschichte, einen brief, anschreiben,
        aufsatz, rede, einladung, gliederung, witz, witze, bildunterschrift, reim, reimform, ueberschrift,
        blogbeitrag, einen roman, roman ueber,
        故事, 小说, 诗, 作文, 文案, 邮件, 演讲, 广告, 标语, 口号, 笑话, 一封信, 辞职信, 散文, 剧本, 字以内, 朋友圈
    """,
    "translates": """
        translat*, in french, in german, in spanish, in chinese, in english, into french, into german, into spanish,
        into italian, into english, into chinese, how do i say, how do you say, uebersetz*, auf englisch, auf deutsch,
        ins englische, ins deutsche, ins franzoesische, wie sage ich, wie sagt man, was heisst, in worten,
        翻译, 译成, 译为, 用英语, 用英文, 用日语
    """,
    "rewords": """
        reword, rephrase, rewrite, proofread, improve the, polish, politer, polite, paraphrase, grammar, wording,
        more formal, korrigier*, umformulier*, verbesser*, lektorier*, hoeflicher, den stil, rechtschreib*,
        润色, 改写, 校对, 病句, 改得
    """,
    "shortens": """
        summari*, tl dr, tldr, bullet points, in one sentence, key points, the gist, fass, fasse, zusammenfass*,
        kuerze, auf zwei saetze, stichpunkt*, stichwort*, kernaussage*,
        总结, 概括, 摘要, 归纳, 用一句话, 主要内容, 下面这段话
    """,
    "plays": """
        you are a, you are an, you are the, you are my, you re a, you re an, you re my, you re the, act as, pretend,
        role play, roleplay, play the, play a, job interview, du bist, in die rolle, handeln sie als, tun sie so,
        stellen sie sich vor sie, spiel, spiele den, spiele die, spiele das, spiele mein*, stell dir vor du,
        tu so als, rollenspiel, imagine you are, picture yourself,
        扮演, 你现在是, 假装, 你是一名, 你是一位, 你是一个, 模拟面试, 角色
    """,
    "opines": """
        do you think, should i, should we, should you, is it ok, is it normal, is it bad, your opinion,
        what do you think, too old, do you like, am i wrong, findest du, was haeltst, meinst du, ist es schlimm,
        soll ich, sollte ich, sollten wir, was soll, deine meinung, normal,
        你觉得, 你认为, 怎么看, 你怎么看, 合适吗, 晚不晚, 好不好, 应该, 怎么开口, 要不要, 值得吗
    """,
    "advises": """
        recommend*, suggest, suggestions, ideas, tips, itinerary, advice, names, benefits, causes, reasons,
        pros and cons, empfehl*, tipps, ideen, gruende, vor und nachteile, nenne, nennen, workout, workout plan,
        meal plan, study plan, a plan, training plan, quiz me, gift, present for, trainingsplan, lernplan, plan fuer,
        schenk*, geschenk*,
        推荐, 建议, 怎么办, 怎么安排, 注意什么, 攻略, 想一个, 想几个, 计划, 礼物, 玩什么, 好用, 制定
    """,
    "instructs": """
        recipe, cook, bake, how do i, how can i, how to, how does, rezept, kochen, backen, wie geht das,
        wie mache ich, wie kann ich, wie funktioniert,
        做法, 怎么做, 怎么在, 怎样, 如何, 菜谱
    """,
    "explains": """
        explain, explains, explanation, why, why does, in plain words, in simple terms, difference between a,
        what does it mean, what is a, what s a, what are the, stand for, meaning of, mean versus, what does, erklaer*,
        warum, wieso, weshalb, was bedeutet, was bedeuten, worin unterscheid*, unterscheiden sich, was heisst,
        was macht diese, wozu, ohne formeln, was ist ein, was ist eine, vergleiche,
        解释, 什么是, 是什么意思, 什么意思, 为什么, 区别, 有什么不同, 通俗, 大白话, 意义, 原理, 风格
    """,
    "programs": """
        react, vue, angular, css, html, sql, javascript, typescript, java, python, regex, regular expression, docker,
        docker compose, git, bash, shell script, component, this function, component with, fatal, exception,
        typeerror, indexerror, keyerror, valueerror, zerodivisionerror, nullpointer*, segfault, stack trace, http,
        api, kubernetes, web page, button, unit test, refactor, compile, diese funktion, webseite, html seite,
        komponente, zeile, fehlermeldung, regulaerer ausdruck, klasse, program that, python programm, website,
        报错, 正则, 代码, 这个函数, 组件, 页面, 接口, 网页, 脚本, 编程
    """,
    "remembers": """
        who is, who was, who won, who invented, who wrote, who were, when did, when was, what happened, capital of,
        what year, which year, president, world war, wer war, wer ist, wer gewann, wer hat, wann wurde, wann war,
        in welchem jahr, hauptstadt, einwohner, was passierte, bedeutung,
        哪一年, 是谁, 谁提出, 发生了什么, 首都, 历史, 世界大战
    """,
    "chats": """
        hi, hello, hey, thanks, thank you, thx, how are you, good morning, great, hallo, moin, danke, guten morgen,
        guten tag, wie geht s, wie geht es, super,
        你好, 谢谢, 早上好, 明白了, 好的, 您好
    """,
    "phones": """
        call me, my number is, phone number, ruf mich, telefon*, handynummer,
        电话, 手机号, 地址是
    """,
    "pictures": """
        photo, picture, image, caption, this person, foto, bild, bildunterschrift, auf dem bild,
        图片, 照片, 这张图, 截图
    """,
}

LATIN_UNITS: Final = """
    a ah bucks c cal calories cent cents chf cm day days degree degrees dm dollar dollars dpi eur euro euros f feet
    foot ft fuss g gallon gallons gb gbp ghz grad gramm grammes h hour hours hr hrs hz in inch inches j jahr jahre
    jahren k kb kcal kg khz kilo kj km kmh kw kwh l lb lbs liter litern liters litre litres m ma mah mal mb meile
    meilen meter metern meters metre metres mg mhz mi mile miles min minute minutes ml mm mmol mol monat monate
    monaten month months mph mv mwh ounce ounces oz pct people percent personen pfund pound pounds prozent px rmb s
    sec second seconds sekunde sekunden stunde stunden t tag tage tagen tb times ton tonne tonnes tons usd v w week
    weeks wh woche wochen yard yards yd year years yen zoll
"""
"""What makes a number before it a measure; parted by spaces."""

CHINESE_UNITS: Final = """
    元 块 万 亿 千 伏 安培 瓦 千瓦 欧姆 焦耳 牛顿 帕 卡路里 千卡 公里 千米 米 厘米 毫米 斤 公斤
    千克 克 吨 升 毫升 立方 平方 度 小时 分钟 分 秒 天 周 个月 月
    年 倍 折 成 英里 英尺 英寸 美元 欧元 港币 华氏 摄氏 海里 kg km cm g
"""
"""The same; a unit is known by how the text after the number starts."""

LABELS: Final = """
    article artikel chapter code error figure http iphone kapitel level line page paragraph phase port raum room
    schritt section seite step table top unit version windows zeile
"""
"""A number after one of these is a name, not a quantity; parted by spaces."""
