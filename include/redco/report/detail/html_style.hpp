#pragma once

#include <string_view>

namespace redco::report::detail {

/// Style sheet of the HTML report: light by default and in print, dark if the reader prefers dark
/// screens. The CSS classes k0 to k11 are the colours of the kinds of bytes.
inline constexpr std::string_view html_style = R"(<style>
:root{color-scheme:light;--page:#fff;--ink:#1b1f24;--soft:#59636e;--line:#d1d9e0;--card:#f6f8fa;--split:#0b6bcb;
--splitbg:#dcebfb;
--sum:#a8480c;--sumbg:#fde8d7;--bad:#b3261e;--good:#1a7f37;
--k0:#24568f;--k1:#4a86c5;--k2:#1f7a70;--k3:#5cb39b;--k4:#8c99a6;--k5:#dd7430;--k6:#f0b45e;--k7:#a8407f;--k8:#d78bb7;
--k9:#6a4fb5;--k10:#ac9bdc;--k11:#b59a1e}
@media screen and (prefers-color-scheme:dark){:root{color-scheme:dark;--page:#0f1419;--ink:#e4e9ee;--soft:#9aa7b4;
--line:#313c47;
--card:#182029;--split:#6cb6ff;--splitbg:#16324f;--sum:#ffab70;--sumbg:#45280f;--bad:#ff8a80;--good:#56d364;
--k0:#4f8fd6;--k1:#86b8ec;--k2:#35a697;--k3:#7fd0b9;--k4:#8593a1}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1rem;max-width:62rem;background:var(--page);color:var(--ink);font:16px/1.45 system-ui,sans-serif}
h1{font-size:1.5rem;margin:.2rem 0}h2{font-size:1.15rem;margin:2rem 0 .5rem;border-top:1px solid var(--line);padding-top:1rem}
p{margin:.4rem 0}.soft{color:var(--soft)}.bad{color:var(--bad);font-weight:600}.good{color:var(--good);font-weight:600}
code,.mono{font-family:ui-monospace,"DejaVu Sans Mono",monospace;font-size:.86em}
.run{display:flex;flex-wrap:wrap;gap:.3rem .5rem;margin:.6rem 0;padding:0;list-style:none}
.run li{background:var(--card);border:1px solid var(--line);border-radius:.4rem;padding:.15rem .5rem;font-size:.9rem}
svg{display:block;width:100%;height:auto}svg text{font:11px system-ui,sans-serif;fill:var(--ink)}
svg .soft{fill:var(--soft)}svg .mono{font:10.5px ui-monospace,"DejaVu Sans Mono",monospace}svg .end{text-anchor:end}
svg .mid{text-anchor:middle}
svg .strong{font-weight:600}svg .sum{fill:var(--sum)}svg .over{fill:var(--bad)}
svg .halo{paint-order:stroke;stroke:var(--page);stroke-width:3px;stroke-linejoin:round}
.axis{stroke:var(--line);fill:none}.flow{stroke:var(--soft);fill:none;stroke-width:1.5}.rail{stroke:var(--soft);fill:none;
stroke-width:1.5;stroke-dasharray:4 3}
.budget{stroke:var(--bad);stroke-dasharray:6 4;fill:none}.peak{fill:var(--page);stroke:var(--ink);stroke-width:1.5}
.whole{fill:var(--card);stroke:var(--line)}.cut{fill:var(--splitbg);stroke:var(--split)}.pill{fill:var(--sumbg);
stroke:var(--sum)}
.mine{fill:var(--split)}.other{fill:none;stroke:var(--split)}.all{fill:var(--soft)}.group{fill:none;stroke:var(--line);
stroke-dasharray:3 3}
.k0{fill:var(--k0)}.k1{fill:var(--k1)}.k2{fill:var(--k2)}.k3{fill:var(--k3)}.k4{fill:var(--k4)}.k5{fill:var(--k5)}
.k6{fill:var(--k6)}
.k7{fill:var(--k7)}.k8{fill:var(--k8)}.k9{fill:var(--k9)}.k10{fill:var(--k10)}.k11{fill:var(--k11)}
.narrow{max-width:36rem}.key{display:inline-block;width:.8rem;height:.8rem;vertical-align:-.05rem;margin-right:.4rem}
table{border-collapse:collapse;width:100%;font-size:.9rem}th,td{text-align:left;padding:.28rem .6rem .28rem 0;
border-bottom:1px solid var(--line);vertical-align:top}td:first-child,code{overflow-wrap:anywhere}
th{color:var(--soft);font-weight:600}.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
th button{all:unset;cursor:pointer}th button:focus-visible{outline:2px solid var(--split)}
th[aria-sort=ascending] button::after{content:" \2191"}
th[aria-sort=descending] button::after{content:" \2193"}
tr.this td{font-weight:600}
@media screen and (max-width:44rem){body{padding:.75rem}th.n{white-space:normal}
.cards tr{display:grid;grid-template-columns:1fr 1fr;gap:0 .6rem;border-bottom:1px solid var(--line);padding:.35rem 0}
.cards td,.cards th{border:0;padding:.05rem 0}.cards td:first-child,.cards .why{grid-column:1/-1}
.cards td[data-is]::before{content:attr(data-is) " ";color:var(--soft)}
.cards:not(.plan) thead{display:none}.cards:not(.plan) td:first-child{font-weight:600}
.plan thead tr{display:flex;flex-wrap:wrap;gap:.3rem}.plan th button{border:1px solid var(--line);border-radius:.4rem;
padding:.1rem .45rem}
.cards .n{text-align:left;white-space:normal}.wide{display:none}}
@media print{body{max-width:none;padding:0;font-size:11px}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}
h2{break-after:avoid}tr,.whole,svg.once{break-inside:avoid}.narrow{max-width:28rem}a{color:inherit}
thead{display:table-header-group}}
</style>
)";

/// Script of the HTML report, which sorts a table by the clicked column heading. Without JavaScript
/// the tables are complete but not sortable.
inline constexpr std::string_view html_script = R"(<script>
for (const table of document.querySelectorAll("table.plan")) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  const key = (row, i) => row.cells[i].dataset.key ?? row.cells[i].textContent;
  heads.forEach((head, i) => {
    const button = document.createElement("button");
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.onclick = () => {
      const down = head.getAttribute("aria-sort") === "ascending", sign = down ? -1 : 1;
      heads.forEach(h => h.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      body.append(...[...body.rows].sort((a, b) => sign * key(a, i).localeCompare(key(b, i), "en", {numeric: true})));
    };
  });
}
</script>
)";

}  // namespace redco::report::detail
