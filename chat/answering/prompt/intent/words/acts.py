"""Words for acts that code can perform, and for follow-ups to code that ran. This module contains only data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

ACTS: Final[Mapping[str, str]] = {
    "calculate": """
        calculate, calculates, calculation, compute, calc, solve, work out the, work out how, add up,
        sum up the numbers, how do the numbers, what does it come to, simplify, factorise, factorize, integrate,
        differentiate, berechn*, ausrechn*, rechne, rechnest, rechnen, nachrechn*, ausgerechnet, loese, loes,
        bestimme, ermittle, ermitteln, hochrechn*, vereinfache, factor, zerlege,
        计算, 求解, 解方程, 解不等式, 方程组, 算一下, 算算, 算出, 算一算, 算总, 算下, 再算, 帮我算, 化简, 因式分解,
        求出, 求函数, 求导, 求和, 估算, 估计, 化成, 化为
    """,
    "graph": """
        chart, charts, *chart, graph, graphs, histogram, scatter, scatterplot, boxplot, heatmap, plot, plots, plotted,
        plotting, visuali*, *diagramm, *diagramme, *histogramm, schaubild, graphen, graph der, *plot, plotte, plotten,
        grafisch, graphisch, als kurve, as a curve, als grafik, ne grafik, eine grafik, als graphik,
        图像, 折线图, 柱状图, 条形图, 饼图, 散点图, 直方图, 箱线图, 热力图, 曲线, 画图, 画出, 作图, 绘制, 可视化,
        图表, 画个图, 线图, 柱形图, 面积图, 雷达图, 示意图, 走势图, 看看图, 看图, 波形图
    """,
    "draw": """
        draw, drawing, sketch, render, illustrate, zeichne, zeichnen, zeichnet, gezeichnet, malen, skizzier*, stell,
        stelle, darstell*, skizze, male mir, male ein, male eine, male einen, male das, male die, male den, mal mir,
        mal ein, mal eine, mal einen,
        画, 作出, 绘
    """,
    "show": """
        show, list, print, give, get, find, generate, make, create, build, compare, measure, time, benchmark, fit,
        estimate, sort, roll, flip, toss, pick, sample, shuffle, divide, multiply, add, sum, test, check, try,
        display, zeig, zeige, zeigen, liste, gib, finde, erzeuge, erstell*, generier*, mach, mache, vergleich*, miss,
        passe, schaetz*, sortier*, teile, addiere, multiplizier*, pruef*, teste, bilde, baue, ziehe,
        显示, 展示, 给我看, 看看, 列出, 列一, 生成, 找出, 找到, 做一个, 做个, 创建, 比较, 对比, 测, 拟合, 排序, 掷,
        抛, 随机, 求, 打印, 输出, 来一个, 来个, 造一, 制作, 解
    """,
    "throw": """
        roll, flip, toss, throw, wuerfle, wuerfel, wirf, zieh, ziehe,
        掷, 抛, 扔, 抽
    """,
    "appearance": """
        looks like, look like, as a picture, as an image, picture of, image of, visible, sieht aus, aussieht,
        aussehen, als bild, ein bild von, bildlich, anschaulich als bild,
        长什么样, 什么样子, 什么形状, 图示, 画面
    """,
    "figurative graph": """
        plot of, plot twist, plot twists, plot summary, learning curve, lernkurve, curve ball, plot hole, plot holes,
        the plot in, org chart, flow chart, flowchart, chart hits, the charts, plot for
    """,
    "run this code": """
        run this, run it, run the code, run that, execute this, execute the, execute it, what does this output,
        what does this print, what does it print, what will this print, what does this code print,
        what does this return, what is the output, use python to, use code, fuehr das, fuehre das, fuehre den,
        fuehr den, fuehre diesen, fuehre folgenden, was gibt das aus, was gibt dieser code, was gibt der code,
        was kommt da raus, lass das laufen, was kommt raus, what comes out,
        运行这, 运行一下, 运行下, 执行这, 执行一下, 输出什么, 输出结果, 输出是, 跑一下, 用python算, 用代码算
    """,
    "run": """
        run, runs, execute, executes, output, outputs, print, prints, result, try it, try this, fuehr, fuehre,
        ausfuehr*, auszufuehr*, ausgefuehrt, laufen, starte, starten, ausgabe, ergebnis, testen, teste,
        运行, 执行, 跑, 结果, 输出, 试一下, 试试, 运算
    """,
    "do not run": """
        don t run, do not run, without running, no need to run, not run, don t execute, do not execute,
        without executing, nicht ausfuehren, ohne auszufuehren, ohne es auszufuehren, ohne ihn auszufuehren,
        nicht laufen lassen, nicht starten, doesn t run, won t run, can t run, laeuft nicht,
        不用运行, 不要运行, 别运行, 无需运行, 不需要运行, 不运行, 不用执行, 不要执行, 别执行, 不用跑, 不要跑, 别跑,
        跑不, 运行不, 运行报错, 运行出错
    """,
    "edit code": """
        review, refactor, fix, debug, optimi*, improve, comment, comments, docstring, docstrings, type hints, port,
        port it, rename, faster, shorter, cleaner, clean up, behebe*, beheben, reparier*, kommentar*, kommentier*,
        schneller, kuerzer, umschreib*,
        修, 改成, 改为, 改一下, 优化, 重构, 注释, 检查, 审查
    """,
    "simulate": """
        simulate, simulates, simulated, simulation, simulations, monte carlo, montecarlo, simulier*, *simulation,
        模拟, 蒙特卡洛, 蒙特卡罗, 仿真
    """,
    "convert": """
        convert, converted, in metric, umrechn*, rechne, in metern, in celsius, in fahrenheit, in pixel, in pixels,
        in euro, in euros, in dollars, in kmh, wandle, wandel, umwandeln, konvertier*, in feet, in inches, in miles,
        in kilometers, in kilograms, in pounds, in minutes, in seconds, in hours, in minuten, in sekunden, in stunden,
        in zoll, in litern,
        换算, 等于多少, 是多少公里, 换成, 折合, 转换成, 合多少, 等于几, 换算成, 是几, 摄氏, 华氏
    """,
    "hash": """
        sha256 of, sha1 of, sha512 of, md5 of, crc32 of, hash of, checksum of, base64 of, sha256 von, sha1 von,
        md5 von, crc32 von, pruefsumme von, in binary, in hex, in hexadecimal, roman numeral for, roman numerals for,
        in roman numerals, roemische zahl*, roemischen zahl*, base64 decode, base64 encode, decode base64,
        encode base64, base64 dekodier*, base64 kodier*, caesar cipher, caesar chiffre, rot13, morse code for,
        unix timestamp, in morse, url decode, url encode, ascii code, ascii, in rgb, to rgb, rgb to hex, unix time,
        rgb of, anagrams of, anagramme von, anagramm von, hash von, pruefsumme,
        的sha256, 的md5, 的哈希, md5值, base64解码, base64编码, 罗马数字, 凯撒密码, ascii码
    """,
    "transform text": """
        sort, sortiere, sortier, reverse, reversed, backwards, rueckwaerts, umdreh*, shuffle, mische, alphabetical*,
        alphabetisch*, anagram*, palindrom*, encrypt, decrypt, encode, decode, verschluessel*, entschluessel*,
        kodier*, dekodier*, caesar, dedupe, deduplicate, common elements, alphabetize, alphabetise, dreh, losen,
        verlose, auslosen, wandle,
        排序, 反转, 倒序, 倒过来, 反过来, 去重, 加密, 解密, 编码, 解码, 回文, 倒着
    """,
    "string": """
        string, the word, the words, das wort, zeichenkette, this word, this text, hello world,
        字符串, 这个词, 单词
    """,
    "number base": """
        binary, hex, hexadecimal, octal, decimal number, to decimal, in decimal, as decimal, base 2, base 8, base 16,
        binaer*, dual, dualzahl, dualsystem, hexadezimal*, oktal*, dezimalzahl, dezimal, ins dezimalsystem, in base,
        zur basis,
        二进制, 十六进制, 八进制, 十进制, 进制
    """,
    "count": """
        count, counts, how many times does, how often does, zaehle, zaehl, zaehlen, haeufigkeit*, wie haeufig,
        frequency, frequencies,
        统计, 数一数, 数数, 数一下, 出现了多少次, 出现多少次, 出现几次, 频率, 频数, 频次, 出现了几次
    """,
    "text unit": """
        characters, word count, words, word frequenc*, syllables, zeichen, woerter, worthaeufigkeit*, silben,
        字符, 单词, 词频, 每个字, 笔画, 多少字, 多少个字, 几个字
    """,
    "letter": """
        letter, letters, vowel, vowels, consonants, buchstabe*, vokal*, konsonant*,
        字母, 元音
    """,
    "follow-up": """
        now, instead, same, again, what if, what about, and for, and with, and if, without, make it a, make the,
        change the, add a, add the, colour, color, blue, red, green, black, orange, axis, axes, legend, label, labels,
        title, line, lines, bars, dots, bigger, log, logarithmic, zoom, redo, only, repeat, rerun, try, smaller,
        larger, wider, thicker, more points, as a, in a table, double it, with a, use a, for n, start at, und jetzt,
        jetzt, und als, und wenn, und fuer, und mit, und bei, das gleiche, dasselbe, nochmal, noch mal, stattdessen,
        farbe*, rot, blau, gruen, schwarz, achse, achsen, legende, beschrift*, titel, linie, linien, balken, punkte,
        dicker, groesser, logarithmisch, ohne, nur, wiederhol*, kleiner, als tabelle, statt, mit mehr, noch eine,
        noch einen, noch ein, gitter*, grid, gridlines, error bars, fehlerbalken, font, schrift*, decimals, per year,
        nachkommastellen,
        换成, 改成, 改为, 变成, 再画, 再算, 再来, 如果, 呢, 颜色, 红色, 蓝色, 绿色, 坐标, 轴, 图例, 标题, 加上, 去掉,
        重新, 同样, 放大, 线条, 多跑, 那如果, 再跑, 再加, 再试, 再做, 再多, 再换, 再把, 再给, 网格, 误差棒, 小数,
        字号
    """,
    "follow-up start": """
        in, as, als, mit, with, ohne, without, fuer, for, bei, at, auf, on, nur, only, das ganze, dasselbe, gleiches,
        the same, use, nimm, nehmen, mach, mache, make, show, zeig, zeige, change, set, save, speicher, speichere,
        put, remove, highlight, markier*, fuege, aender*, setz, setze, swap, rotate, sort, und, and, but, aber, auch,
        do, see, repeat, round, runde, genauer, mehr, more, haeng*, x achse, y achse, another, noch,
        改, 换, 加, 把, 用, 按, 只, 那, 放, 标, 显示, 保存, 导出, 去掉, 缩小, 换个, 再, 保留, 字体, 第, 能不能, 再来
    """,
}

POLITE: Final = """
    please, pls, plz, can you, could you, would you, can u, could u, will you, hey, hi, hello, ok, okay, now, then,
    just, quickly, quick, let s, lets, can we, could we, koennen wir, 我们, i want to, i d like to, i would like to,
    i need to, i need you to, help me, help me to, and, also, so, try to, bitte, kannst du, koenntest du, koennen sie,
    koennten sie, mal, mir, uns, jetzt, dann, kurz, schnell, nun, und, auch, hallo, hilf mir, lass uns, 请, 帮我,
    请你, 帮忙, 麻烦, 麻烦你, 麻烦帮我, 给我, 我想, 我要, 能不能, 可以, 你能, 能, 你好, 现在, 用python, 用代码, 然后
"""
"""Words that may precede the actual request at the start of a text."""
