"""untracked look"""
import io, pytest, shutil
from pathlib import Path
from PIL import Image, ImageDraw
from chat.library.exports import as_documents, document_programs
from chat.vocabulary.parts import *
from tests.chat.library.exports.samples import *
OUT=Path("/tmp/mo/out")
SVG='<svg xmlns="http://www.w3.org/2000/svg" width="300" height="120"><title>Bars</title><rect width="300" height="120" fill="#eef"/><rect x="20" y="30" width="40" height="80" fill="teal"/><rect x="90" y="60" width="40" height="50" fill="tomato"/><text x="160" y="60" font-size="16">Größe 数据</text></svg>'
TEXT=r'''
# Ergebnisse der Umfrage

Die **Größe** der Städte ist in der Tabelle; *kursiv*, `code`, ~~weg~~ und ein [Link](https://example.org/a).

Die Formel $e^{i\pi}+1=0$ ist im Satz, $\hat\beta=(X^\top X)^{-1}X^\top y$ auch, und

$$\int_{-\infty}^{\infty} e^{-x^2}\,dx=\sqrt{\pi}\qquad \begin{pmatrix}a&b\\c&d\end{pmatrix}\begin{Vmatrix}1&2\\3&4\end{Vmatrix}$$

$$\begin{aligned}f(x)&=\sum_{n=0}^{\infty}\frac{f^{(n)}(0)}{n!}x^n\\ &= \begin{cases}1 & x>0\\0&\text{sonst}\end{cases}\end{aligned}$$

## 表格和中文

这是一个中文段落，用来检查字体是否可以显示。日本語の文章もここにあります。한국어 문장도 있습니다.

مرحبا بالعالم، هذه فقرة باللغة العربية مع كلمة English في الوسط والرقم 42.

- عنصر أول
- عنصر ثان

שלום עולם, זו פסקה בעברית.

नमस्ते दुनिया, यह हिन्दी में एक अनुच्छेद है। ไทย ภาษาไทย

| Monat | Jan | Feb | Mrz | Apr | Mai | Jun | Jul | Aug | Sep | Okt | Nov |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
| Berlin-Charlottenburg | 1234.5 | 2234.5 | 3234.5 | 4234.5 | 1234.5 | 2234.5 | 3234.5 | 4234.5 | 1234.5 | 2234.5 | 3234.5 |
| München | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 |

| City | Inhabitants | Note |
|:--|--:|---|
| Berlin | 3,677,472 | Capital, and a text that is long enough to wrap in its cell when the page is narrow, as it always is on paper |
| Köln | 1,073,096 | $x^2$ |

1. Erstens
   - tief
     - tiefer
2. Zweitens

> Ein Zitat über zwei
> Zeilen

- [x] done
- [ ] open

Eine Fußnote[^1].

[^1]: Der Text der Fußnote.

```python
def a_very_long_function_name_that_goes_on(first_argument, second_argument, third_argument, fourth_argument, fifth_argument=None):
    # ein Kommentar: 数据 и кириллица
    return {"key": "https://example.org/a/very/long/address/without/any/space/that/must/break/somewhere/or/be/cut/off?at=the&end=1"}
```

---

Ende. 😀 ✓ → ≤
'''
def graph(w=800,h=500):
    im=Image.new("RGB",(w,h),"white"); d=ImageDraw.Draw(im); d.rectangle((40,20,w-20,h-40),outline="black"); d.line([(40+i*8,h//2+int(100*__import__("math").sin(i/8))) for i in range(90)],fill="blue",width=4)
    f=io.BytesIO(); im.save(f,"PNG"); return f.getvalue()
@pytest.mark.django_db
def test_look(monkeypatch):
    import typst
    OUT.mkdir(exist_ok=True)
    conversation = make_conversation(title="Besucher & Umsätze 2025: Übersicht")
    q=make_user_message(conversation, "Zeige mir die Daten als Diagramm.\n数据 مرحبا")
    attach(q, make_attachment(conversation.owner, data=b"month,sales\nJan,3\nFeb,5\n", name="sales.csv"))
    answer = make_model_message(conversation, parts=[(PartKind.THOUGHT, "Let me **think**.\n")])
    add_parts(answer, Text(TEXT), ExecutableCode("import pandas as pd\nprint(1)\ndf.plot()", language="PYTHON", call_id="c1"), CodeExecutionResult("   month  sales\n0    Jan      3\n1    Feb      5\n", outcome=OUTCOME_OK, call_id="c1"), InlineData(mime_type="image/png"), Display({"image/svg+xml": SVG}), Display({"text/html":"<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table>"}), Text("So ist es."))
    n=answer.parts.filter(kind=PartKind.INLINE_DATA).get().index
    g=make_attachment(conversation.owner, data=graph(), is_graph=True, name="sine.png"); Attachment.objects.filter(pk=g.pk).update(width=800,height=500); attach(answer,g,part_index=n); PartRow.objects.filter(message=answer,index=n).update(attachment=g)
    lost=make_attachment(conversation.owner, data=png("red"), is_graph=True, name="lost.png"); attach(answer,lost,part_index=None)
    from chat.library.exports import document_html
    real=document_html.load_bytes
    monkeypatch.setattr(document_html,"load_bytes",lambda a: None if a.pk==lost.pk else real(a))
    (OUT/"a.docx").write_bytes(exported_bytes(conversation,"docx"))
    real_compile=as_documents.compile_typst
    def keep(source, pictures, *a, **k):
        d=OUT/"typ"; shutil.rmtree(d,ignore_errors=True); d.mkdir()
        (d/"main.typ").write_bytes(source)
        for n,b in pictures.items(): (d/n).write_bytes(b)
        return real_compile(source,pictures,*a,**k)
    monkeypatch.setattr(as_documents,"compile_typst",keep)
    (OUT/"a.pdf").write_bytes(exported_bytes(conversation,"pdf"))
    for f in OUT.glob("p*.png"): f.unlink()
    pages=typst.compile(str(OUT/"typ/main.typ"),format="png",ppi=72)
    for i,b in enumerate(pages if isinstance(pages,list) else [pages],1): (OUT/f"p{i}.png").write_bytes(b)
