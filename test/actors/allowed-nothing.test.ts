import { EventEmitter, once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { patience, type RunningActor, startActor } from '../support/actor.ts';
import { captureRequest } from '../support/capture-request.ts';
import { IN_FEW_PIXELS } from '../support/site-and-actor.ts';

/** Permissions that a page may ask for. */
const PERMISSIONS = [
  'geolocation',
  'notifications',
  'camera',
  'microphone',
  'clipboard-read',
  'clipboard-write',
  'midi',
  'persistent-storage',
  'background-sync',
  'background-fetch',
  'accelerometer',
  'screen-wake-lock',
  'display-capture',
  'window-management',
  'local-fonts',
  'idle-detection',
  'payment-handler',
];

/** Returns a page that runs `script`, the body of an async function, before it has loaded; its title is the result. */
function pageThat(script: string): string {
  return `<!doctype html><body><script>
    const answer = (promise) => promise.then(() => 'granted', (error) => error.name ?? 'refused ' + error.code);
    const run = async () => { ${script} };
    run().then((value) => { document.title = JSON.stringify(value); }, (error) => { document.title = String(error); })
      .finally(() => fetch('/done'));
  </script><img src="/when-done">`;
}

const ASKS = pageThat(`
  const states = {};
  for (const name of ${JSON.stringify(PERMISSIONS)}) states[name] = (await navigator.permissions.query({ name })).state;
  return {
    states,
    geolocation: await answer(new Promise((yes, no) => navigator.geolocation.getCurrentPosition(yes, no))),
    notifications: await Notification.requestPermission(),
    camera: await answer(navigator.mediaDevices.getUserMedia({ video: true })),
    microphone: await answer(navigator.mediaDevices.getUserMedia({ audio: true })),
    read: await answer(navigator.clipboard.readText()),
    write: await answer(navigator.clipboard.writeText('text')),
    midi: await answer(navigator.requestMIDIAccess()),
    awake: await answer(navigator.wakeLock.request('screen')),
    persisted: await navigator.storage.persist(),
  };`);

/** Registers a service worker, then a dedicated worker: once the second one runs, the first would have run, too. */
const REGISTERS = pageThat(`
  const registered = navigator.serviceWorker.register('/worker.js').then(() => 'registered');
  await fetch('/when-worker-came');
  const other = new Promise((yes) => { new Worker('/other.js').onmessage = () => yes('only the other one'); });
  return { running: await Promise.race([registered, other]), controller: navigator.serviceWorker.controller };`);
const OTHER = `fetch('/from-the-other').then(() => postMessage('running'));`;

const WORKER = `
  fetch('/from-the-worker');
  addEventListener('install', () => skipWaiting());
  addEventListener('activate', (event) => event.waitUntil(clients.claim()));`;

describe.each([
  ['the direct driver', {}],
  ['Playwright', { waitForFunction: 'true' }],
])('a page that is captured by %s', (_driver, asks) => {
  let server: Server;
  let origin: string;
  let running: RunningActor;
  let visits: string[] = [];

  beforeAll(async () => {
    const bodies: Readonly<Record<string, string>> = {
      '/asks': ASKS,
      '/registers': REGISTERS,
      '/worker.js': WORKER,
      '/other.js': OTHER,
    };
    const happened = new EventEmitter();
    const waits: Readonly<Record<string, string>> = { '/when-done': '/done', '/when-worker-came': '/worker.js' };
    server = createServer(async (request, response) => {
      const path = request.url ?? '';
      visits.push(path);
      happened.emit(path);
      const awaited = waits[path];
      if (awaited !== undefined && !visits.includes(awaited)) await once(happened, awaited);
      response.setHeader('Content-Type', path.endsWith('.js') ? 'text/javascript' : 'text/html');
      response.end(bodies[path] ?? '');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    origin = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
    running = await startActor();
  });

  beforeEach(() => {
    visits = [];
  });

  afterAll(async () => {
    await running?.stop();
    server?.closeAllConnections();
    server?.close();
  });

  const seen = async (path: string): Promise<unknown> => {
    const { title } = await running.actor.capture(
      captureRequest(`${origin}${path}`, { ...IN_FEW_PIXELS, ...asks }),
      patience,
    );
    return JSON.parse(title);
  };

  it('denies every permission that the page queries or requests', async () => {
    expect(await seen('/asks')).toEqual({
      states: Object.fromEntries(PERMISSIONS.map((name) => [name, 'denied'])),
      geolocation: 'refused 1',
      notifications: 'denied',
      camera: expect.stringMatching(/NotAllowedError|NotFoundError/),
      microphone: expect.stringMatching(/NotAllowedError|NotFoundError/),
      read: 'NotAllowedError',
      write: 'NotAllowedError',
      midi: 'NotAllowedError',
      awake: 'NotAllowedError',
      persisted: false,
    });
  });

  it('fetches the script of a service worker through the egress proxy, but never runs it', async () => {
    for (let captures = 0; captures < 6; captures += 1) {
      expect(await seen('/registers')).toEqual({ running: 'only the other one', controller: null });
      expect(visits).toEqual(expect.arrayContaining(['/worker.js', '/from-the-other']));
      visits = visits.filter((path) => path === '/from-the-worker');
    }
    // A worker that the end of its capture lets run is seen during the next one.
    expect(visits).toEqual([]);
  });
});
