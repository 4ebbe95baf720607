/// The styles of every page. What they tell by colour is told by a sign, a word or a pattern as well.
pub(super) const STYLE: &str = "
:root{color-scheme:light dark;--ink:#1b1f24;--paper:#fff;--soft:#f3f4f6;--line:#8a929c;--accent:#0b5fa5}
@media (prefers-color-scheme:dark){:root{--ink:#e8eaed;--paper:#14171b;--soft:#20252b;--line:#7d8691;--accent:#7cc0ff}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:76rem;padding:1rem;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
h1{font-size:1.5rem;margin:.5rem 0}h2{font-size:1.2rem;margin:2rem 0 .5rem}h3{font-size:1rem;margin:1rem 0 .25rem}
a{color:var(--accent)}a:focus-visible,summary:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.skip{position:absolute;left:-99rem}.skip:focus{position:static}
nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1rem;list-style:none;padding:0}
pre,.quote{white-space:pre-wrap;overflow-wrap:anywhere;font-family:ui-monospace,monospace;background:var(--soft);border-left:4px solid var(--line);padding:.75rem;margin:.5rem 0}
mark{background:none;color:inherit;border-bottom:2px solid}
mark.computed{border-bottom-style:dashed}mark.repeated{border-bottom-style:dotted}mark.no_source{border:2px solid;padding:0 .1em}
mark a{text-decoration:none;font-size:.75em;vertical-align:super}
table{border-collapse:collapse;margin:.5rem 0}caption{text-align:left;font-weight:600}
th,td{border:1px solid var(--line);padding:.2rem .5rem;text-align:left;vertical-align:top;overflow-wrap:anywhere}
details{margin:.25rem 0}summary{cursor:pointer}
.board{overflow-x:auto;border:1px solid var(--line)}
svg{display:block}svg text{fill:var(--ink);font:13px system-ui,sans-serif}
svg rect{fill:var(--soft);stroke:var(--line)}svg .column{font-weight:600}
svg path{fill:none;stroke:var(--ink);stroke-width:1.5}
svg path.inferred{stroke-dasharray:6 4}svg path.tested{stroke-width:4.5}svg path.let-in{stroke-dasharray:1.5 3}
.bar{display:flex;min-height:1.6rem;border:1px solid var(--line);overflow:hidden}
.bar span{border-right:2px solid var(--paper);background:var(--soft);min-width:3px;overflow:hidden;white-space:nowrap;font-size:.75rem;padding:.15rem .25rem}
.bar .untrusted{background:repeating-linear-gradient(45deg,var(--soft),var(--soft) 6px,var(--line) 6px,var(--line) 7px)}
.two{display:grid;grid-template-columns:1fr 1fr;gap:1rem}@media (max-width:50rem){.two{grid-template-columns:1fr}}
@media print{details:not([open])>*{display:block}}
";
