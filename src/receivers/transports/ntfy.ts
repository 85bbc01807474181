import type { Notice } from '../notice.ts';
import type { Transport } from '../transport.ts';
import { endOf, exchange, type HttpParts } from './exchange.ts';
import { messenger } from './messenger.ts';
import { defanged, plain, shownLinks, within } from './plain-text.ts';

/*
 * ntfy: https://docs.ntfy.sh/publish/. A message is shown as plain text, in which apps make links of what looks like
 * one.
 */

/** https://docs.ntfy.sh/publish/#limitations: 4096 bytes, above which a message becomes an attachment. */
const MAX_MESSAGE_CHARACTERS = 1000;
const MAX_TITLE_CHARACTERS = 200;
/** https://docs.ntfy.sh/publish/#action-buttons: up to three. */
const MAX_ACTIONS = 3;
/** One attachment is all that a message has. Servers take up to 15 MB unless they are set otherwise: https://docs.ntfy.sh/config/#attachments */
const IMAGE_LIMITS = { maxBytes: 2 * 1024 * 1024, maxSide: 4096, count: 1 };
const HIGH_PRIORITY = 4;
/** The body, the URL with the text, or its headers are too long for the server. */
const TOO_LONG: ReadonlySet<number | null> = new Set([413, 414, 431]);
/**
 * Attachments are not allowed, too large, or too many: https://github.com/binwiederhier/ntfy/blob/main/server/errors.go
 */
const REFUSED_ATTACHMENT = /"code":\s*(?:40014|41301|42905)\b/;

interface NtfyOptions extends HttpParts {
  /** `https://ntfy.sh/<topic>`, with user and password, or an access token `tk_...`, if the server wants them. */
  readonly url: URL;
}

export function ntfyTransport({ url, ...parts }: NtfyOptions): Transport {
  const topic = decodeURIComponent(url.pathname.split('/').filter(Boolean).at(-1) ?? '');
  const root = new URL('.', new URL(url.pathname.replace(/\/+$/, ''), url));
  const authorization = authorizationOf(url);

  return messenger({
    files: IMAGE_LIMITS,
    loads: true,
    refusesImages: (end) => TOO_LONG.has(end.status) || ('reason' in end && REFUSED_ATTACHMENT.test(end.reason)),
    tell: async (notice, { files: [image], links }, { signal }) => {
      const said = saidBy(notice);
      if (image === undefined) {
        const headers = { 'content-type': 'application/json', ...authorization };
        const body = JSON.stringify({ topic, ...said, attach: links[0]?.url });
        return endOf(await exchange({ url: root, headers, body }, parts, signal));
      }
      const target = new URL(encodeURIComponent(topic), root);
      const { title, message, priority, tags, click, actions } = said;
      target.search = new URLSearchParams({
        ...{ title, message, priority: String(priority), tags: tags.join(',') },
        ...(click === undefined ? {} : { click }),
        ...(actions.length === 0 ? {} : { actions: JSON.stringify(actions) }),
        filename: image.fileName,
      }).toString();
      const request = { url: target, method: 'PUT', headers: authorization, body: image.bytes } as const;
      return endOf(await exchange(request, parts, signal));
    },
  });
}

function authorizationOf({ username, password }: URL): Record<string, string> {
  if (username.startsWith('tk_') && password === '') return { authorization: `Bearer ${username}` };
  if (username === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

function saidBy({ about, sentence, isProblem, facts, links }: Notice) {
  const lines = [sentence, ...facts.map(({ label, text }) => `${label}: ${text}`)];
  const actions = shownLinks(links).map((link) => ({ action: 'view', ...link }));
  return {
    title: within(defanged(plain(about)), MAX_TITLE_CHARACTERS),
    message: within(lines.map((line) => defanged(plain(line))).join('\n'), MAX_MESSAGE_CHARACTERS),
    priority: isProblem ? HIGH_PRIORITY : 3,
    tags: isProblem ? ['warning'] : [],
    click: actions[0]?.url,
    actions: actions.slice(0, MAX_ACTIONS),
  };
}
