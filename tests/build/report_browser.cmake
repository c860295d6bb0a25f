# Checks HTML reports and the report of a run in headless Chromium, on a phone and on a desktop
# screen, light and dark. The table of parameters sorts, nothing is wider than the screen, pictures
# are well-formed, and labels of a drawing neither overlap nor leave it. Skipped without Chromium.
# $REDCO_CHROMIUM names a browser that is not in the path.
#   cmake -DROOT=DIR -DWORK=DIR -P report_browser.cmake

include("${ROOT}/cmake/Skip.cmake")
if(DEFINED ENV{REDCO_CHROMIUM})
  set(chromium "$ENV{REDCO_CHROMIUM}")
else()
  find_program(chromium NAMES chromium chromium-browser google-chrome)
endif()
if(NOT chromium)
  skip("no Chromium (scripts/setup --tests, or REDCO_CHROMIUM)")
  return()
endif()
file(REMOVE_RECURSE "${WORK}")
set(frames "")
foreach(name mlp_1x3 gpt2_demo_4x2 run_page)
  file(READ "${ROOT}/tests/files/golden/${name}.html" page)
  file(WRITE "${WORK}/${name}.html" "${page}")
  foreach(width 360 1200)
    string(APPEND frames "<iframe src='${name}.html' style='width:${width}px;height:900px;border:0'></iframe>\n")
  endforeach()
endforeach()
file(WRITE "${WORK}/page.html" "<!doctype html><title>not checked</title>\n${frames}" [[<div style="width:336px"></div><script>
const problems_of = (page, width) => {
  const found = [], wide = page.documentElement.clientWidth;
  if (page.documentElement.scrollWidth > wide) found.push("the page is wider than the screen");
  for (const part of page.querySelectorAll("table, td, th, p, li, svg, img, pre, figure, details"))
    if (part.getBoundingClientRect().right > wide + 0.5) found.push("cut off: " + part.textContent.slice(0, 40));
  // Pictures of files are images, so their texts are measured in a copy.
  const copies = [...page.querySelectorAll("img")].map(image => {
    const bytes = Uint8Array.from(atob(image.src.split(",")[1]), c => c.charCodeAt(0));
    const copy = new DOMParser().parseFromString(new TextDecoder().decode(bytes), "image/svg+xml");
    if (image.naturalWidth === 0 || copy.querySelector("parsererror")) found.push("not well-formed: " + image.alt);
    return document.querySelector("div").appendChild(document.importNode(copy.documentElement, true));
  });
  for (const drawing of [...page.querySelectorAll("svg[role=img]"), ...copies]) {
    const edge = drawing.getBoundingClientRect();
    const texts = [...drawing.querySelectorAll("text")].map(text => [text.textContent, text.getBoundingClientRect()]);
    texts.forEach(([a, x], i) => {
      if (x.left < edge.left - 0.5 || x.right > edge.right + 0.5 || x.top < edge.top - 1) found.push("outside: " + a);
      for (const [b, y] of texts.slice(i + 1)) {
        const across = Math.min(x.right, y.right) - Math.max(x.left, y.left);
        const down = Math.min(x.bottom, y.bottom) - Math.max(x.top, y.top);
        if (across > 0.5 && down > 1.5) found.push(a + " collides with " + b);
      }
    });
  }
  return found.map(one => width + ": " + one);
};
onload = () => {
  const frames = [...document.querySelectorAll("iframe")];
  const problems = frames.flatMap(frame => problems_of(frame.contentDocument, frame.style.width));
  const page = frames[0].contentDocument, buttons = page.querySelectorAll(".plan th button");
  const rows = () => [...page.querySelectorAll(".plan tbody tr")].map(row => row.cells[0].textContent).join(" ");
  buttons[4].click();
  const up = rows();
  buttons[4].click();
  const answers = frames.map(frame => frame.contentDocument.querySelector("h2").textContent).join(", ");
  const run = frames[4].contentDocument, style = part => getComputedStyle(run.querySelector(part));
  document.title = ("up " + up + ", down " + rows() + ", first " + answers + ", colours " +
    [style("body").backgroundColor, style(".redco-picture").backgroundColor, style(".p-soft").fill].join(" ") +
    ", pictures " + run.querySelectorAll("img, svg").length + ", problems " + problems.join("; ")).replace(/\s+/g, " ");
};
</script>
]])
foreach(scheme dark light)
  set(number 1)
  set(colours "rgb(255, 255, 255) rgb(255, 255, 255) rgb(89, 99, 110)")
  if(scheme STREQUAL dark)
    set(number 0)
    set(colours "rgb(15, 20, 25) rgb(15, 20, 25) rgb(154, 167, 180)")
  endif()
  execute_process(COMMAND ${chromium} --headless --no-sandbox --disable-gpu --hide-scrollbars --allow-file-access-from-files
    --blink-settings=preferredColorScheme=${number} --user-data-dir=${WORK}/profile --window-size=1300,900
    --dump-dom file://${WORK}/page.html OUTPUT_VARIABLE dom ERROR_VARIABLE errors RESULT_VARIABLE status TIMEOUT 120)
  if(NOT status EQUAL 0)
    skip("${chromium} does not run here (another one: REDCO_CHROMIUM): ${errors}")
    return()
  endif()
  string(REGEX MATCH "<title>[^<]*</title>" title "${dom}")
  string(CONCAT wanted "<title>up down.bias up.bias down.weight up.weight, down up.weight down.weight up.bias down.bias, "
    "first What fits, What fits, What fits, What fits, Warnings, Warnings, colours ${colours}, pictures 9, problems </title>")
  if(NOT title STREQUAL wanted)
    message(FATAL_ERROR "the pages in chromium, ${scheme}, say\n${title}\nnot\n${wanted}")
  endif()
endforeach()
