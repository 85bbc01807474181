import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createActorPool } from '../../src/actors/actor-pool.ts';
import type { Actors } from '../../src/actors/actors.ts';
import type { Action } from '../../src/capture/options/interaction.ts';
import type { Snapshot } from '../../src/capture/result/snapshot.ts';
import { configOf } from '../../src/config/mod.ts';
import { createTargetPolicy } from '../../src/egress/address-policy.ts';
import { createEgress } from '../../src/egress/create-egress.ts';
import type { Egress } from '../../src/egress/egress.ts';
import { patience } from '../support/actor.ts';
import { captureRequest } from '../support/capture-request.ts';
import { publicAndPrivate } from './public-and-private.ts';

/*
 * Tries every way in which interaction with a page can make its browser open a connection, against a server on loopback
 * that must not be reached. `public.test` is the page's own server: its name is allowed and stands for the public
 * network.
 */

const servers = publicAndPrivate();
let egress: Egress;
let actor: Actors;

beforeAll(async () => {
  egress = createEgress({
    policy: createTargetPolicy({ allow: ['public.test'], deny: [] }),
    lookup: async () => ['127.0.0.1'],
    lookupCacheMs: 0,
  });
  actor = createActorPool(configOf({}, { cores: 1 }), { egress, warn: () => undefined });
});

afterAll(async () => {
  await actor?.close();
  await egress?.close();
});

const secretUrl = (host = '127.0.0.1') => `http://${host}:${servers.privatePort}/secret`;
const act = (actions: readonly Action[], waitForFunction: string): Promise<Snapshot> =>
  actor.capture(captureRequest(`http://public.test:${servers.publicPort}/`, { actions, waitForFunction }), patience);

describe('a page that a capture interacts with', () => {
  it.each<[string, (target: string) => string]>([
    ['a fetch', (target) => `fetch("${target}", { mode: "no-cors" }).catch(over)`],
    ['a fetch that is redirected', () => 'fetch("/redirect", { mode: "no-cors" }).catch(over)'],
    ['an image', (target) => `Object.assign(new Image(), { src: "${target}", onerror: over })`],
    ['a WebSocket', (target) => `new WebSocket("${target.replace('http', 'ws')}").onerror = over`],
    [
      'a frame',
      (target) =>
        `document.body.append(Object.assign(document.createElement("iframe"), { src: "${target}", onload: over }))`,
    ],
    [
      'a worker',
      (target) =>
        `new Worker(window.URL.createObjectURL(new Blob([\`fetch("${target}", { mode: "no-cors" }).catch(() => postMessage(0))\`]))).onmessage = over`,
    ],
  ])('cannot reach a private server with %s', async (_what, script) => {
    servers.redirect = secretUrl();
    const hosts = ['127.0.0.1', 'localhost', '[::1]'];
    servers.page = `<title></title><button onclick='${hosts.map((host) => script(secretUrl(host))).join(';')}'>Go</button>
      <script>let left = ${hosts.length}; const over = () => { if (--left === 0) document.title = 'over'; }</script>`;
    expect((await act([{ type: 'click', selector: 'button' }], "document.title === 'over'")).title).toBe('over');
    expect(servers.visits).toEqual([]);
  });

  it.each([
    ['a link', (target: string) => `<a href="${target}">Go</a>`],
    ['a link that redirects', () => '<a href="/redirect">Go</a>'],
    ['a form', (target: string) => `<form method="post" action="${target}"><button id="a">Go</button></form>`],
  ])('fails with target_forbidden when %s leads to a private server', async (_what, element) => {
    servers.redirect = secretUrl();
    servers.page = element(secretUrl());
    const led = act([{ type: 'click', selector: '//*[text()="Go"]' }], 'true').catch((error: unknown) => error);
    expect(await led).toMatchObject({ code: 'target_forbidden', message: expect.stringContaining('127.0.0.1') });
    expect(servers.visits).toEqual([]);
  });

  it('receives no WebRTC candidates, because UDP packets would bypass the proxy', async () => {
    servers.page = `<title></title><button onclick="call()">Go</button><script>
      const call = async () => {
        const connection = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${servers.privatePort}' }] });
        const found = [];
        connection.createDataChannel('data');
        connection.onicecandidate = ({ candidate }) => {
          if (candidate?.candidate) found.push(candidate.candidate);
          else document.title = 'found: ' + found.length;
        };
        await connection.setLocalDescription(await connection.createOffer());
      };
    </script>`;
    const { title } = await act([{ type: 'click', selector: 'button' }], 'document.title');
    expect(title).toBe('found: 0');
  });
});
