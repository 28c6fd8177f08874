"""Words for requests that code cannot help with, such as writing, translation, role play, opinion and explanation.

This module contains only data.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

COUNTER_SIGNALS: Final[Mapping[str, str]] = {
    "write": """
        write, writing, draft, compose, tell me a, schreib, schreibe, schreiben sie, schreibst, entwerfen, entwirf,
        schreibt man, formulier*, verfass*, erzaehl, erzaehle, erzaehlt, entwerfen sie,
        写一, 写个, 写份, 写封, 写篇, 写首, 写段, 帮我写, 论述, 编一, 讲一个, 讲个
    """,
    "genre": """
        story, stories, poem, poetry, essay, email, e mail, a letter, letter to, love letter, haiku, limerick, song,
        lyrics, speech, slogan, caption, blog, blog post, tweet, joke, jokes, dialogue, screenplay, novel, headline,
        ad, cover letter, toast, tagline, short story, chapter, gedicht, kurzgeschichte, maerchen, geschichte,
        einen brief, anschreiben, aufsatz, rede, einladung, gliederung, witz, witze, bildunterschrift, reim, reimform,
        ueberschrift, blogbeitrag, einen roman, roman ueber,
        故事, 小说, 诗, 作文, 文案, 邮件, 演讲, 广告, 标语, 口号, 笑话, 一封信, 辞职信, 散文, 剧本, 字以内, 朋友圈
    """,
    "translate": """
        translat*, in french, in german, in spanish, in chinese, in english, into french, into german, into spanish,
        into italian, into english, into chinese, how do i say, how do you say, uebersetz*, auf englisch, auf deutsch,
        ins englische, ins deutsche, ins franzoesische, wie sage ich, wie sagt man, was heisst, in worten,
        翻译, 译成, 译为, 用英语, 用英文, 用日语
    """,
    "reword": """
        reword, rephrase, rewrite, proofread, improve the, polish, politer, polite, paraphrase, grammar, wording,
        more formal, the tone, friendlier, korrigier*, umformulier*, verbesser*, lektorier*, hoeflicher, den stil,
        rechtschreib*,
        口吻, 语气, 措辞, 润色, 改写, 校对, 病句, 改得
    """,
    "summarize": """
        summari*, tl dr, tldr, bullet points, in one sentence, key points, the gist, fass, fasse, zusammenfass*,
        kuerze, auf zwei saetze, stichpunkt*, stichwort*, kernaussage*,
        总结, 概括, 摘要, 归纳, 用一句话, 主要内容, 下面这段话
    """,
    "role play": """
        you are a, you are an, you are the, you are my, you re a, you re an, you re my, you re the, act as, pretend,
        role play, roleplay, play the role, job interview, du bist, in die rolle, handeln sie als, tun sie so,
        stellen sie sich vor sie, stell dir vor du, simulate a conversation, simulate an interview,
        simuliere ein gespraech, tu so als, rollenspiel, imagine you are, picture yourself,
        扮演, 你现在是, 假装, 你是一名, 你是一位, 你是一个, 模拟面试, 角色
    """,
    "role play start": """
        play, spiel, spiele, spielen sie,
        扮演, 演
    """,
    "opinion": """
        do you think, should i, should we, should you, is it ok, is it normal, is it bad, your opinion,
        what do you think, too old, do you like, am i wrong, findest du, was haeltst, meinst du, ist es schlimm,
        ist das normal, is this normal, is that normal, soll ich, sollte ich, sollten wir, was soll, deine meinung,
        你觉得, 你认为, 怎么看, 你怎么看, 合适吗, 晚不晚, 好不好, 我应该, 该不该, 应不应该, 应该怎么, 怎么开口, 聊聊,
        要不要, 值得吗
    """,
    "advice": """
        recommend*, suggest, suggestions, ideas, tips, itinerary, advice, name ideas, names for, benefits, causes,
        reasons, pros and cons, empfehl*, tipps, ideen, gruende, vor und nachteile, nenne, nennen, workout,
        workout plan, meal plan, study plan, a plan, training plan, quiz me, gift, present for, trainingsplan,
        lernplan, plan fuer, schenk*, geschenk*, facts, fun facts, fakten,
        推荐, 建议, 怎么办, 怎么安排, 注意什么, 攻略, 想一个, 想几个, 计划, 礼物, 玩什么, 好用, 制定, 冷知识
    """,
    "instructions": """
        cook, bake, how do i, how can i, how to, rezept, kochen, backen, wie geht das, wie mache ich, wie kann ich,
        wie funktioniert, recipe for, a recipe, recipes,
        做法, 怎么做, 怎么在, 怎样, 如何, 菜谱, 怎么用, 怎么画
    """,
    "health or repair": """
        noise at, makes a noise, rattles, leak, leaks, broken, stopped working, symptoms, headache*, doctor,
        blood pressure, sleep, pain, hurts, pregnant, medication, ruckelt, geraeusch*, kaputt, tropft, schmerzen,
        kopfschmerzen, arzt, blutdruck, schlaf, schlafen, fieber, schwanger, bauchschmerzen,
        异响, 坏了, 故障, 失眠, 症状, 医生, 头疼, 头痛, 发烧, 怀孕, 血压
    """,
    "explain": """
        explain, explains, explanation, why, why does, in plain words, in simple terms, difference between a,
        what does it mean, what do you mean, does it work, how does a, how does an, how does the, stand for,
        meaning of, mean versus, what is meant, what is a, what s a, what is an, what does, was ist ein, was ist eine,
        was ist eigentlich, compare and contrast, erklaer*, warum, wieso, weshalb, was bedeutet, was bedeuten,
        worin unterscheid*, unterscheiden sich, was heisst, was macht diese, wozu, ohne formeln, wofuer steht,
        stands for, woher kommt, don t get it, verstehe nicht, make sense of the, in einfachen worten, in other words,
        解释, 什么是, 是什么意思, 什么意思, 为什么, 区别, 有什么不同, 通俗, 大白话, 意义, 原理, 风格, 是怎么,
        介绍一下, 讲讲, 讲解, 是什么格式, 看不懂
    """,
    "possible explanation": """
        what are the, what are, vergleiche, welche sind
    """,
    "programming": """
        react, vue, angular, css, html, sql, javascript, typescript, java, regex, regular expression, docker,
        docker compose, git, bash, shell script, component, this function, component with, fatal, exception,
        typeerror, indexerror, keyerror, valueerror, zerodivisionerror, nullpointer*, segfault, stack trace, http,
        api, kubernetes, web page, button, unit test, refactor, compile, diese funktion, webseite, html seite,
        komponente, fehlermeldung, regulaerer ausdruck, python programm, program that, website,
        报错, 正则, 代码, 这个函数, 组件, 页面, 接口, 网页, 脚本, 编程
    """,
    "python": """
        python
    """,
    "with python": """
        use python, using python, with python, mit python,
        用 python
    """,
    "known fact": """
        who is, who was, who won, who invented, who wrote, who were, when did, when was, what happened, capital of,
        what year, which year, president, world war, wer war, wer ist, wer gewann, wer hat, wann wurde, wann war,
        in welchem jahr, hauptstadt, einwohner, was passierte, bedeutung, who made, who discovered, who created,
        wer erfand, wer entdeckte,
        哪一年, 是谁, 谁提出, 发生了什么, 首都, 历史, 世界大战, 谁发明, 谁发现
    """,
    "small talk": """
        thanks, thank you, thx, how are you, great, danke, wie geht s, wie geht es, super, your name, who are you,
        wer bist du, wie heisst du, auf wiedersehen, bye, goodbye, tschuess, ciao,
        谢谢, 明白了, 好的, 再见, 多谢, 辛苦了, 你叫什么, 你是谁
    """,
    "greeting": """
        hi, hello, hey, hallo, moin, good morning, guten morgen, guten tag,
        你好, 您好, 早上好
    """,
    "later": """
        not yet, before we start, later, don t analyse, don t analyze, no code, without code, no calculation,
        don t calculate, no numbers, don t want numbers, spaeter, noch nicht, ohne code, ohne zu rechnen,
        nicht rechnen,
        先别, 先不, 不着急, 不要代码, 不用算, 别算, 不用计算, 不要计算
    """,
    "phone": """
        call me, my number is, phone number, ruf mich, telefon*, handynummer,
        电话, 手机号, 地址是
    """,
    "picture content": """
        photo, picture, image, caption, this person, foto, bild, bildunterschrift, auf dem bild,
        图片, 照片, 这张图, 截图
    """,
}
