"""Words for the questions, objects and conditions of a calculation. This module contains only data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

MATERIAL: Final[Mapping[str, str]] = {
    "term": """
        derivative, integral, limit of, determinant, eigenvalue*, eigenvector*, inverse matrix, inverse of, matrix,
        roots of, root of, square root, prime, primes, factorial, prime factor*, gcd, lcm, fibonacci, average, mean,
        median, variance, standard deviation, std, stdev, correlation, regression, linear fit, fit a, best fit, slope,
        trend, outlier*, percentile, quartile, p value, t test, chi square, confidence interval, margin of error,
        significan*, logarithm, modulo, digit, digits, decimal places, sequence, binomial, normal distribution,
        integer, integers, divisor*, divisible, multiples, remainder, cubes, squares, cube root, natural numbers,
        quadratic, quadratics, cubic, polynomial*, equation, equations, linear system, differential equation, ode,
        least squares, taylor series, fourier, vector, vectors, dot product, cross product, covariance, harmonic,
        golden ratio, perfect numbers, palindrom*, pythagorean triples, triangular numbers, square numbers,
        prime number*, twin primes, pi, logistic map, series, convergen*, partial sum*, cumulative, mode, rms,
        weighted, ableitung, *integral, stammfunktion, grenzwert, nullstelle*, determinante, eigenwert*, primzahl*,
        primfaktor*, fakultaet, ggt, kgv, *durchschnitt*, mittelwert*, im schnitt, schnitt, varianz,
        standardabweichung, korrelation, ausreisser*, quartil*, signifikant*, konfidenz*, wurzel, logarithmus,
        nachkommastellen, binomial*, normalverteilung, gleichungssystem, gleichung, quersumme*, teiler*, teilbar*,
        vielfache*, kubikzahl*, quadratzahl*, ganze zahlen, ganzzahl*, naturalzahl*, natuerliche zahlen, zahlenfolge,
        reihe, taylorreihe, quadratische*, kubische*, vektor*, kehrwert, kreiszahl, kettenbruch, zinsrechnung,
        prozentrechnung, dreisatz, ausgleichsgerade, kovarianz, modus, fibonaccizahl*, fibonacci*, perfekte zahlen,
        teilerfremd, the sum of, sum of, product of, summe von, summe aller, produkt aus, erwartungswert*,
        expected value, isbn, check digit, pruefziffer, bruch, bruchrechnung, fraction, lowest terms, verhaeltnis,
        ratio, asymptot*, extrem*, extrema, tripel, chi quadrat*, chi squared, stichprobe*, sample size,
        *unsicherheit, prozentual, prozentsatz, percentage change, produkt der, steigung, wendepunkt*, hochpunkt*,
        tiefpunkt*, tangente, schnittpunkt*, intersection*, stationary points, extremstellen, inflection*, kuerzen,
        gemischte zahl, percent change, percent increase, percent decrease, trailing zeros, zeros, nullen, next term,
        next number, naechste zahl, skalarprodukt, kreuzprodukt, z test, f test, z score, freiheitsgrad*, quantil*,
        degrees of freedom, zehnerpotenz, scientific notation, carbon dating,
        导数, 积分, 极限, 行列式, 特征值, 逆矩阵, 矩阵, 质数, 素数, 完全数, 阶乘, 次方, 平方根, 开方, 最大公约数,
        最小公倍数, 斐波那契, 平均, 中位数, 众数, 方差, 标准差, 相关性, 相关系数, 回归, 拟合, 异常值, 显著, 置信区间,
        公约数, 公倍数, 约数, 倍数, 整数, 整除, 因数, 质因数, 三角函数, 微分, 二次, 偏导, 向量, 特征向量, 最小二乘,
        直线, 求平均, 概率密度, 泰勒, 级数, 傅里叶, 圆周率, 黄金比例, 水仙花数, 回文数, 勾股数, 占比, 对数, 余数,
        数列, 等差, 等比, 零点, 方程, 正态分布, 定积分, 总分, 均值, 期望, 期望值, 斜率, 交点, 切线, 极值, 最值, 拐点,
        样本量, 比例, 比值, 约分, 通分, 百分比, 次幂, 开根号, 根号, 立方根, 质因数分解, 校验位, 回文, 因子, 互质,
        增长率, 同比, 环比, 加权, 平方和, 立方和, 下一个数, 下一项
    """,
    "figure": """
        sine, sin, cosine, cos, tangent, waveform, sinusoid, parabola, hyperbola, ellipse, unit circle, spiral,
        spirals, helix, torus, sphere, moebius*, mobius*, klein bottle, fractal, fractals, mandelbrot*, julia set*,
        sierpinski*, koch snowflake, koch curve, dragon curve, barnsley*, hilbert curve, lissajous, cardioid, cycloid,
        lemniscate, astroid, epicycloid, spirograph, rose curve, heart curve, vector field, phase portrait,
        attractor*, lorenz*, butterfly curve, bell curve, gaussian, normal distribution, sigmoid, polygon,
        tetrahedron, dodecahedron, icosahedron, polyhedr*, contour*, saddle, parametric*, voronoi*, delaunay*,
        binary tree, fractal tree, step response, fourier series, sinus*, kosinus*, cosinus*, tangens*, *welle,
        *wellen, parabel*, hyperbel*, einheitskreis, *spirale, fraktal*, *schneeflocke, *attraktor, vektorfeld,
        *verteilung, vieleck, fuenfeck, sechseck, achteck, herzkurve, kardioide, zykloide, lissajousfigur*,
        moebiusband, julia menge*, juliamenge, apfelmaennchen, glockenkurve, sattelflaeche,
        正弦, 余弦, 正切, 曲线, 曲面, 抛物线, 双曲线, 椭圆, 圆形, 个圆, 单位圆, 同心圆, 外接圆, 内切圆, 螺旋, 螺线,
        分形, 曼德, 朱利亚集, 心形, 爱心, 玫瑰线, 多边形, 五边形, 六边形, 球面, 球体, 环面, 正弦波, 方波, 波形, 钟形,
        高斯, 向量场, 吸引子, 科赫, 雪花曲线, 谢尔宾斯基, 莫比乌斯, 摆线, 李萨如, 利萨如, 蝴蝶曲线, 二叉树, 等高线,
        渐近线, 马鞍面, 参数方程, 极坐标, 勾股树
    """,
    "possible figure": """
        wave, waves, circle, circles, square, cube, cone, triangle, surface, tiling, maze, checkerboard, chessboard,
        mesh, function, functions, polar, fern, pentagon, hexagon, distribution, distributions, kegel, kugel*,
        wuerfel, quadrat, schachbrett, labyrinth, *funktion, *funktionen, *flaeche, kreis, kreise, halbkreis, dreieck,
        dreiecke, star, heart, stern, herz, rectangle, rechteck, grid, cylinder, zylinder, pyramid, pyramide, octagon,
        heptagon, trapezoid, parallelogram, rhombus, curve, curves, achteck, trapez, raute, kurve, kurven, *kurve,
        *kurven, viereck, siebeneck, neuneck, zehneck, zwoelfeck, n eck, vieleck, regular polygon, stars,
        函数, 三角形, 正方形, 圆环, 立方体, 分布, 棋盘, 迷宫, 长方形, 五角星, 圆柱, 圆锥, 正十二面体, 网格,
        平行四边形, 梯形, 菱形, 正七边形, 正八边形, 圆面积, 圆的, 长方体, 正方体, 圆柱体, 的圆, 圆心, 两个圆
    """,
    "process": """
        random walk*, brownian*, game of life, cellular automat*, rule 30, rule 110, galton board, double pendulum,
        pendulum, projectile, predator prey, lotka volterra, sir model, josephus, collatz, towers of hanoi,
        tower of hanoi, monty hall, birthday paradox, birthday problem, buffon*, n queens, eight queens, sudoku,
        travelling salesman, traveling salesman, knapsack, sieve of eratosthenes, pascal s triangle, pascals triangle,
        magic square, three body, n body, newton s method, euler method, runge kutta, k means, gradient descent,
        central limit theorem, bubble sort, quicksort, merge sort, markov chain, coin flips, dice rolls, fizzbuzz,
        fizz buzz, ulam spiral, irrfahrt, zufallsbewegung, spiel des lebens, conways*, galtonbrett, doppelpendel,
        pendel, schiefer wurf, raeuber beute*, josephus*, tuerme von hanoi, ziegenproblem, geburtstagsparadox*,
        damenproblem, rucksackproblem, sieb des eratosthenes, pascalsches dreieck, pascalsche dreieck,
        magisches quadrat, newtonverfahren, newton verfahren, wuerfelwurf*, muenzwurf*, schwingung*, wurfparabel,
        multiplication table, times table, truth table, einmaleins*, wahrheitstabelle, vector field, logistic map,
        bifurcation*, richtungsfeld, 24 game, pascalsche*,
        随机游走, 布朗运动, 生命游戏, 元胞自动机, 双摆, 单摆, 抛体, 平抛, 捕食者, 约瑟夫, 考拉兹, 汉诺塔, 蒙提霍尔,
        三门问题, 生日悖论, 生日问题, 布丰投针, 投针, 八皇后, 皇后问题, 数独, 旅行商, 背包问题, 筛法, 杨辉三角, 幻方,
        三体, 牛顿法, 牛顿迭代, 欧拉法, 龙格库塔, 梯度下降, 中心极限定理, 冒泡排序, 快速排序, 马尔可夫链, 九九乘法表,
        角谷猜想, 乘法表, 真值表, 分岔图, 逻辑斯蒂映射, 24 点
    """,
    "computable": """
        random, randomly, noise, noisy, primes, prime numbers, fibonacci, table of, multiplication table, times table,
        truth table, division, sort times, sorting algorithms, sort algorithms, running time*, run time*,
        permutations, combinations, quadratic, equation, equations, dice, coin, coins, matrix, regression, dummy data,
        sample data, fake data, test data, powers of, leap years, anagrams, zufall*, zufaellig*, rauschen,
        verrauscht*, tabelle der, tabelle mit, tabelle von, einmaleins*, wahrheitstabelle, laufzeit*,
        sortieralgorithm*, sortierverfahren, permutationen, gleichung*, muenze*, beispieldaten, testdaten, potenzen,
        schaltjahre, a line to, a line through, line of best fit, random numbers, runtime, runtimes, square numbers,
        powers of two, primzahlen, quadratzahlen, kubikzahlen, quadratwurzel*, eine gerade durch,
        随机, 噪声, 噪点, 素数, 质数, 斐波那契, 乘法表, 真值表, 除法, 排序算法, 运行时间, 耗时, 全排列, 方程, 直线,
        骰子, 硬币, 矩阵, 示例数据, 测试数据, 模拟数据, 数列, 的表格, 幂, 闰年, 平方表, 的和, 总和
    """,
    "runnable program": """
        program, script, loop, simulation, experiment, benchmark, endless loop, infinite loop, programm, skript,
        schleife, endlosschleife,
        死循环, 无限循环, 程序, 循环, 实验
    """,
    "chance": """
        probab*, chance, chances, likely, likelihood, odds, how many ways, arrangement*, permutation*, combination*,
        wahrscheinlich*, moeglichkeiten, anordnung*, kombination*, ways to, auf wie viele arten, arten es gibt,
        概率, 可能性, 几率, 排法, 种方法, 种可能, 排列, 组合
    """,
    "game of chance": """
        dice, coin, coins, toss*, heads, urn, marbles, deck, cards, lottery, roulette, raffle, poker, full house,
        flush, wuerfel*, wuerfle, wurf, muenz*, urne, kugeln, lotto, lotterie, kniffel,
        骰子, 硬币, 摸出, 抽到, 扑克, 彩票, 中奖, 双色球, 摸球, 抽奖
    """,
    "random numbers": """
        random number*, random value*, random integer*, random point*, random sample*, random password*,
        random password, random data, zufalls*, zufaellige zahl*, zufaellige werte, randomly, zufaellig, random team*,
        losen, verlosen,
        随机数, 随机点, 随机密码, 随机整数, 随机抽, 随机生成, 随机分
    """,
    "quantity question": """
        how much, how many, how long, how far, how tall, how high, how old, how fast, how often, how big, how heavy,
        how deep, how wide, how late, how likely, what percentage, what percent, what fraction, what share,
        what do i have, what will i have, what would i, what will i, what do i, what time, what angle, what volume,
        what is the total, what s the total, in total, altogether, when do, when will, when is, when does, when are,
        by how, what margin, total cost, extra cost, what s left, how little, what rate, what speed,
        will it be enough, is that enough, how close, wie viel*, wieviel*, wie lange, wie hoch, wie gross, wie weit,
        wie oft, wie alt, wie schwer, wie schnell, wie tief, wie breit, wie teuer, wie stark, was kostet, was kosten,
        was bleibt, was zahlt, was zahle, was zahlen, was spare, was macht das, was ergibt, insgesamt, wann,
        gesamtsumme, was krieg*, was bekomm*, reicht, reichen, what do, what year, which year, what pace,
        average speed, welches tempo, wie spaet, was ist das pro, was sind das, what does that make, per person,
        pro person, each pay, what grade, what score, welche note,
        多少, 几小时, 几点, 几天, 几个, 几次, 几只, 几折, 几年, 几分钟, 几倍, 几斤, 几米, 各几, 要几, 多久, 多长,
        多大, 多高, 多远, 多重, 多快, 多深, 总共, 一共, 还剩, 够不够, 够吗, 什么时候, 第几, 配速, 各付, 人均, 每人,
        有几种, 几种, 几条, 几步, 几名, 几块, 几个月, 涨多少
    """,
    "named quantity": """
        average, averages, mean, median, total, totals, sum, sums, share, part of the, percentage, percent, rate,
        *rate, ratio, proportion, correlation, correlate*, deviation, variance, increase, decrease, overrun*, growth,
        highest, lowest, maximum, minimum, biggest, largest, smallest, number of, how strongly, how much, how many,
        what each, durchschnitt*, *durchschnitt, mittlere*, mittelwert*, median, summe*, gesamt*, anteil*, prozent*,
        *quote, verhaeltnis*, korrelation*, zusammenhaeng*, wachstum*, zuwachs*, steigerung*, hoechste*, niedrigste*,
        groesste*, kleinste*, anzahl, zahl der, wie viel*, wieviel*, wie stark, was jeder, veraenderung*,
        abweichung*, moyenne*, moyen, médian*, total, totaux, somme, part, pourcentage*, taux, rapport entre,
        proportion, corrélation, écart type, croissance, hausse, variation, plus haut*, plus bas*, plus grand*,
        plus gros*, nombre de, combien, à quel point, dépassement*, promedio*, media, medio, medios, mediana, suma,
        totales, porcentaje*, tasa, proporción, correlación, desviación, desviaciones, crecimiento, aumento,
        variación, más alto*, más bajo*, mayores, mayor, número de, cuánto*, cuánta*, hasta qué punto, qué parte,
        平均, 中位数, 合计, 总额, 总和, 总成本, 比例, 占比, 百分比, 百分之, 增长率, 增幅, 率, 比值, 相关, 关联有多,
        标准差, 最高, 最低, 最大, 最小, 次数, 多少, 分摊, 中央値, 合計, 総費用, 割合, 比率, 伸び率, 相関, 標準偏差,
        最大値, 最小値, 上位, 関係, 変化率, 増加率, 負担額, 成長率, 一人いくら, 何人, どのくらい
    """,
    "price comparison": """
        cheaper, cheapest, better deal, better off, worse off, worth it, is worth, pays off, save, saves, savings,
        saving, break even, more expensive, lohnt, lohnen, guenstiger, billiger, teurer, spar*, rentiert,
        rechnet sich,
        划算, 便宜, 合算, 省钱, 省多少, 能省, 赚, 亏, 更贵, 差多少, 多多少, 少多少, 值不值
    """,
    "comparison": """
        which is better, which one, difference, compare, compared, versus, more than, faster, slower, better, besser,
        mehr, unterschied, schneller, langsamer, vergleich*,
        更快, 更多, 哪个, 哪家, 哪种, 省
    """,
    "what is": """
        what is, what s, whats, was ist, was sind,
        是什么
    """,
    "unit count": """
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
        trinkgeld, gewinn, eigenkapital, rente, sparplan, einzahl*, gehalt, *steuer*, amortiz*, amortis*,
        tilgungsplan, ratenplan, prozent, off, discounted, uplift, schulde*, owe, owes, zahlt, zahlen, aufteilen,
        nebenkosten, marge, skonto,
        利率, 贷款, 房贷, 月供, 复利, 本金, 利息, 年化, 定投, 税前, 税后, 到手, 工资, 扣, 打折, 原价, 涨, 跌, 利润,
        收益, 首付, 公积金, 折, 还款, 涨价, 降价, 回本, 油费, 电费, 水费, 分摊
    """,
    "rate": """
        per, a day, a month, a year, a week, an hour, each, every, apiece, daily, monthly, yearly, annually, kmh,
        km h, mph, pro, je, am tag, im monat, im jahr, pro jahr, jeden, jede, jeder, monatlich, jaehrlich, taeglich,
        die stunde, das kilo,
        每, 一天, 一个月, 年化
    """,
    "condition": """
        if, suppose, assuming, given, when i, what if, wenn, falls, angenommen,
        如果, 假设, 假如, 要是, 按
    """,
    "science": """
        rectangle, triangle, circle, cylinder, sphere, cube, radius, diameter, perimeter, area, volume, angle, angles,
        shadow, hypotenuse, ladder, speed, distance, travels, meet, flight, consumption, solution, molar*,
        concentration, titrat*, ph, mass, force, acceleration, voltage, current, resistance, half life, double,
        doubles, tank, pool, fill, fills, bmi, dpi, tables, guests, bill, split, dilute*, dose, density, energy,
        rechteck*, dreieck*, kreis*, zylinder, kugel, wuerfel, durchmesser, umfang, flaeche, volumen, winkel,
        geschwindigkeit, entfernung, strecke, faehrt, zuege, zug, treffen, verbrauch*, verbraucht, loesung,
        konzentration, masse, kraft, strom*, leistung, halbwertszeit, verdoppel*, becken, akku, wirkungsgrad, defizit,
        schueler, fliessen, fliesst, tief, lang, breit, hoch, a train, trains, two trains, mischung*, mixture,
        freier fall, free fall, fliese*, tiles, tapete*, wallpaper, paint, farbe reicht, quadratmeter, square meters,
        square feet,
        三角形, 长方形, 正方形, 圆, 半径, 直径, 周长, 面积, 体积, 容积, 斜边, 角度, 速度, 相距, 相遇, 追上, 追, 注水,
        放水, 注满, 装满, 油耗, 浓度, 溶液, 盐水, 生理盐水, 密度, 质量, 电压, 半衰期, 翻倍, 浪费, 零件, 工程, 合作,
        头, 体重, 身高, 剩下, 付, 买了, 时差, 零钱, 瓷砖, 平方米
    """,
    "physics": """
        radius, diameter, durchmesser, free fall, freier fall, falls from, dropped from, thrown, throw, bremsweg,
        stopping distance, speed of, schall*, dichte, density, voltage, ohm, watt, spannung, widerstand, resistor*,
        feder*, pendel*, pendulum, *kugel, halbwertszeit, half life, kinetic, kinetische, frequenz, frequency,
        wellenlaenge, wavelength, concentration, konzentration, molar*, alcohol content, alkoholgehalt, bmi, pace,
        slope, ramp, orbit*, umlauf*, escape velocity, fluchtgeschwindigkeit,
        自由落体, 半衰期, 直径, 半径, 密度, 电阻, 电压, 频率, 波长, 动能, 斜面, 弹簧, 抛出, 加速度, 功率, 配速, 浓度
    """,
    "puzzle": """
        so alt wie, times as old, twice as old, as old as, years older, jahre aelter, consecutive, their sum, sum is,
        zusammen sind, together they, doppelt so viel*, dreimal so viel*, twice as many, times as many,
        three times as, what number, which number, welche zahl, gesuchte zahl,
        年龄, 岁数, 几岁, 倍多, 倍少, 各有多少, 几个人, 这个数
    """,
    "figure measure": """
        area, volume, perimeter, circumference, surface area, diagonal, hypotenuse, height of, flaeche,
        flaecheninhalt, oberflaeche, umfang, volumen, inhalt, diagonale, side, sides, seite, seiten, seitenlaenge,
        面积, 周长, 体积, 表面积, 对角线, 的高, 边长
    """,
    "optimum": """
        maximi*, minimi*, optimal, optimum, least material, maximum, minimum, smallest, largest, cheapest, shortest,
        am wenigsten, moeglichst wenig, moeglichst viel, moeglichst gross*, kleinst*, groesst*, minimal*, maximal*,
        最大, 最小, 最省, 最优, 最短, 最少, 最多
    """,
    "calendar": """
        days until, days between, days from, how many days, how many weeks, weekday, weekdays, working days,
        business days, what day, which day, day of the week, in days, since, until, from now, local time, do i land,
        wie viele tage, wieviele tage, wie viele wochen, wochentag, arbeitstage, werktage, wievielte, tage liegen,
        in tagen, wie lange ist das, tag des jahres, tage bis, um wie viel uhr, ortszeit, kommt an, wie spaet,
        what time is it in, wie viele stunden, wieviele stunden, how many hours, how many minutes, wie viele minuten,
        kalenderwoche, calendar week, week number, many days, tage alt, days old,
        多少天, 几天, 星期几, 周几, 礼拜几, 过了多少, 工作日, 几点, 相隔, 距离, 多少小时, 几个小时, 多少分钟, 第几周,
        第几天, 隔了, 差多少
    """,
    "weekday": """
        weekday, day of the week, what day, which day, leap year, friday the 13th, wochentag, welcher tag,
        was fuer ein tag, schaltjahr, freitag der 13, fridays, sundays, mondays, saturdays, weekends, freitage,
        sonntage, montage, samstage, wochenenden, leap years, schaltjahre, schaltjahr*,
        星期几, 周几, 礼拜几, 闰年
    """,
    "named day": """
        today, from now, heute, tomorrow, morgen, christmas, weihnachten, heiligabend, ostern, easter, silvester,
        new year s, new year, neujahr, halloween, thanksgiving, valentine s day, nikolaus,
        今天, 今日, 明天, 春节, 国庆, 元旦, 中秋, 端午, 圣诞, 除夕, 清明, 五一
    """,
    "number word": """
        two, three, four, five, six, seven, eight, nine, ten, eleven, twelve, dozen, hundred, thousand, million, half,
        third, quarter, fifth, twice, double, doubles, triple, zwei, drei, vier, fuenf, sechs, sieben, siebt, acht,
        neun, zehn, elf, zwoelf, hundert, tausend, haelfte, halb, doppelt, drittel, viertel, zu dritt, zu viert,
        zu fuenft, zu sechst, thirteen, fourteen, fifteen, sixteen, eighteen, twenty, thirty, forty, fifty, sixty,
        zwanzig, dreissig, vierzig, fuenfzig,
        两万, 一万, 十万, 百万, 一半, 四分之, 三分之, 五分之, 八折, 九折, 七折
    """,
    "data": """
        analy*, trend, trends, sort, group by, filter, clean up, column, columns, row, rows, value, values, number,
        numbers, data, dataset, spreadsheet, sales, revenue, per, by month, by quarter, by region, by year, total,
        totals, overview, distribution, highest, lowest, most, least, best, worst, largest, smallest, increase, drop,
        missing, duplicate*, customers, correlat*, biggest, top, spalte*, werte, wert, zahlen, daten, tabelle,
        *umsatz*, verkauf*, auswert*, uebersicht, pro, anzahl, summe, *verteilung, hoechst*, niedrigst*, meisten,
        wenigsten, schlechtest*, beste*, groesst*, kleinst*, fehlen, fehlende, doppelte, vergleich*, zusammenhang,
        haengen, haengt, sortier*, gruppier*, welcher, welche, welches, welchen, which,
        分析, 数据, 列, 行, 最高, 最低, 最多, 最少, 最大, 最小, 排序, 排, 总, 分布, 趋势, 异常, 缺失, 去重, 重复,
        分组, 统计, 相关, 对比, 增长, 下降, 销售, 各, 汇总, 哪, 前十, 前五, 前三, 排名, 名次
    """,
}
