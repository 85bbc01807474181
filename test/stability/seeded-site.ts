import { createServer } from 'node:http';
import { type Listening, listening } from '../egress/listening.ts';

/** A host of an advertiser, whose requests `blockAds` blocks. */
export const AD_HOST = 'securepubads.g.doubleclick.net';

/** The unstable parts of the page, by the selector that the check should return. */
export const SEEDED = {
  '#clock': 'clock',
  '#ago': 'clock',
  '#quote': 'randomness',
  '#shuffled': 'randomness',
  '.track': 'animation',
  '#wave': 'animation',
  '#slides': 'carousel',
  '#partner': 'ad',
  '#late > p': 'lazy_load',
  '.row > p:nth-of-type(3)': 'server',
  '#token': 'server',
} as const;

/** Serves a page with all of them, and the advertiser's content. */
export async function seededSite(): Promise<Listening> {
  let visits = 0;
  return listening(
    createServer((request, response) => {
      const { host = '' } = request.headers;
      visits += 1;
      if (host.startsWith(AD_HOST)) {
        response.writeHead(200, { 'Content-Type': 'image/svg+xml' });
        response.end(image(visits));
        return;
      }
      response.writeHead(200, { 'Content-Type': 'text/html' });
      response.end(page(visits, host.split(':')[1] ?? '80'));
    }),
  );
}

function image(visit: number): string {
  const colour = `hsl(${(visit * 67) % 360} 80% 50%)`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="300" height="60"><rect width="300" height="60" fill="${colour}"/></svg>`;
}

function page(visit: number, port: string): string {
  return `<!doctype html><title>Harbour</title><style>
  body { font: 16px sans-serif; margin: 16px; width: 900px }
  #pulse { width: 40px; height: 20px; background: teal; animation: pulse 1.7s infinite alternate linear }
  @keyframes pulse { from { transform: translateX(0) } to { transform: translateX(200px) } }
  .track { height: 24px }
  #slides div { height: 40px; color: #fff }
  .row { display: flex; gap: 40px }
</style>
<h1>The harbour of the northern islands</h1>
<p>The ferry to the islands sails from the eastern pier. Tickets are sold on board.</p>
<div class="row"><p>It is <span id="clock"></span> here.</p><p>Published <span id="ago"></span> ago.</p>
<p>You are visitor <span id="visitor">${visit}</span> today.</p></div>
<p id="quote"></p>
<ul id="shuffled"><li>Lighthouse<li>Boathouse<li>Customs house<li>Fish market</ul>
<div class="track"><div id="pulse"></div></div>
<canvas id="wave" width="300" height="40"></canvas>
<div id="slides"><div style="background:#a00">Spring sailings</div><div style="background:#0a0">Summer sailings</div><div style="background:#00a">Autumn sailings</div></div>
<div><img id="partner" width="300" height="60" src="http://${AD_HOST}:${port}/banner.svg"></div>
<section><h2>News</h2><div id="late"></div></section>
<p>Form <span id="token">${visit * 104_729}</span></p>
<p>The harbour master answers letters within a week.</p>
<script>
  const show = () => { clock.textContent = new Date().toLocaleTimeString('en-GB'); };
  show();
  setInterval(show, 1000);
  ago.textContent = Math.floor((Date.now() - Date.UTC(2020, 0, 1)) / 60000) + ' minutes';
  quote.textContent = ['A ship in harbour is safe.', 'Smooth seas make no sailors.', 'Any port in a storm.', 'Time and tide wait for none.'][Math.floor(Math.random() * 4)] + ' ' + Math.random().toFixed(3);
  for (const item of [...shuffled.children].map((item) => [Math.random(), item]).sort(([a], [b]) => a - b)) shuffled.append(item[1]);
  const context = wave.getContext('2d');
  const draw = (time) => {
    context.fillStyle = '#fff';
    context.fillRect(0, 0, 300, 40);
    context.fillStyle = 'navy';
    for (let x = 0; x < 300; x += 3) context.fillRect(x, 20 + 15 * Math.sin(x / 20 + time / 300), 3, 3);
    requestAnimationFrame(draw);
  };
  requestAnimationFrame(draw);
  let slide = 0;
  const turn = () => { [...slides.children].forEach((each, at) => { each.hidden = at !== slide; }); };
  turn();
  setInterval(() => { slide = (slide + 1) % 3; turn(); }, 2000);
  setTimeout(() => { late.innerHTML = '<p>The new pier opens in May.</p>'; }, 900);
</script>`;
}
