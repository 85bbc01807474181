import { createServer, type ServerResponse } from 'node:http';
import { type Listening, listening } from '../../test/egress/listening.ts';
import { AD_HOST } from '../../test/stability/seeded-site.ts';

/** The unstable parts of the page, by the selector of each: made in other ways than those of `seeded-site.ts`. */
export const UNSTABLE = {
  '#today': 'clock',
  '#convoy': 'clock',
  '#reference': 'randomness',
  '.beacon': 'animation',
  '#gallery': 'carousel',
  '#offer': 'ad',
  '#weather > p': 'lazy_load',
  '#token': 'server',
} as const;

const WEATHER_MS = 300;

/** Serves the page, the advertiser's frame and the late part. */
export async function unstableSite(): Promise<Listening> {
  let visits = 0;
  return listening(
    createServer(({ headers: { host = '' }, url }, response) => {
      visits += 1;
      if (host.startsWith(AD_HOST)) return html(response, `<body style="margin:0"><h2>Offer ${visits * 7919}`);
      if (url !== '/weather') return html(response, page(visits * 104_729, host.split(':')[1] ?? '80'));
      setTimeout(() => html(response, '<p>Fresh winds from the west, light rain in the evening.</p>'), WEATHER_MS);
    }),
  );
}

function html(response: ServerResponse, body: string): void {
  response.writeHead(200, { 'Content-Type': 'text/html' }).end(`<!doctype html>${body}`);
}

function page(token: number, port: string): string {
  return `<title>Pilots</title><style>
  body { font: 16px/22px sans-serif; margin: 20px; width: 1000px }
  .window { width: 400px; height: 60px; overflow: hidden }
  #gallery { display: flex; width: 1200px; transition: transform 0.5s }
  #gallery div { width: 400px; height: 60px; color: #fff }
  .beacon { width: 320px; height: 30px } .beacon b { display: block; width: 30px; height: 30px; background: #c60 }
</style>
<h1>The pilots of the strait</h1>
<p>Pilots board ships of more than 60 metres at the outer buoy. Call on channel 12.</p>
<p id="today"></p>
<p id="convoy">The next convoy sails in <b id="countdown"></b>.</p>
<p>Your reference: <code id="reference"></code></p>
<div class="beacon"><b></b></div>
<p>All pilots have sailed as masters for at least five years.</p>
<div class="window"><div id="gallery"><div style="background:#046">The outer buoy</div><div style="background:#640">The inner strait</div><div style="background:#064">The harbour</div></div></div>
<iframe id="offer" width="400" height="60" style="border:0" src="http://${AD_HOST}:${port}/frame"></iframe>
<div id="weather"></div>
<p>Form 7 <span id="token">${token}</span></p>
<p>The office is open from Monday to Friday.</p>
<script>
  today.textContent = 'It is ' + new Intl.DateTimeFormat('en', { dateStyle: 'full', timeStyle: 'medium' }).format();
  const sails = new Date(2031, 0, 1).getTime();
  const count = () => { countdown.textContent = Math.floor((sails - Date.now()) / 1000) + ' seconds'; };
  count();
  setInterval(count, 1000);
  reference.textContent = crypto.randomUUID();
  document.querySelector('.beacon b').animate([{ marginLeft: '0' }, { marginLeft: '280px' }], { duration: 2300, iterations: Infinity });
  let at = 0;
  const next = () => {
    at = (at + 1) % 3;
    gallery.style.transform = 'translateX(' + at * -400 + 'px)';
    setTimeout(next, 2500);
  };
  setTimeout(next, 2500);
  setTimeout(() => fetch('/weather').then((answer) => answer.text()).then((text) => { weather.innerHTML = text; }), 700);
</script>`;
}
