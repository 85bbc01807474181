import type { Notice } from '../notice.ts';
import type { Transport } from '../transport.ts';
import { attempt, endOf, exchange, type HttpParts } from './exchange.ts';
import { readImages } from './images.ts';
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
/** Servers take up to 15 MB unless they are set otherwise: https://docs.ntfy.sh/config/#attachments */
const IMAGE_LIMITS = { maxBytes: 2 * 1024 * 1024, maxSide: 4096 };
const HIGH_PRIORITY = 4;
/** The body, the URL with the text, or its headers are too long for the server. */
const TOO_LONG = [413, 414, 431];
/**
 * Attachments are not allowed, too large, or too many: https://github.com/binwiederhier/ntfy/blob/main/server/errors.go
 */
const REFUSED_ATTACHMENT = /"code":\s*(?:40014|41301|42905)\b/;

interface NtfyOptions extends HttpParts {
  /** `https://ntfy.sh/<topic>`, with user and password if the server wants them. */
  readonly url: URL;
  /** An access token, `tk_...`. */
  readonly token?: string | undefined;
}

export function ntfyTransport({ url, token, ...parts }: NtfyOptions): Transport {
  const topic = decodeURIComponent(url.pathname.split('/').filter(Boolean).at(-1) ?? '');
  const root = new URL('.', new URL(url.pathname.replace(/\/+$/, ''), url));
  const authorization = authorizationOf(url, token);

  return {
    send: (message, signal) =>
      attempt(signal, async () => {
        const notice = await message.notice();
        const said = saidBy(notice);
        // One attachment is all that a message has.
        const [picture] = await readImages(notice.images.slice(0, 1), IMAGE_LIMITS, signal);
        if (picture !== undefined) {
          const target = new URL(encodeURIComponent(topic), root);
          const { title, message, priority, tags, click, actions } = said;
          target.search = new URLSearchParams({
            ...{ title, message, priority: String(priority), tags: tags.join(',') },
            ...(click === undefined ? {} : { click }),
            ...(actions.length === 0 ? {} : { actions: JSON.stringify(actions) }),
            filename: picture.fileName,
          }).toString();
          const request = { url: target, method: 'PUT', headers: authorization, body: picture.bytes } as const;
          const answer = await exchange(request, parts, signal);
          if (!TOO_LONG.includes(answer.status) && !REFUSED_ATTACHMENT.test(answer.body)) return endOf(answer);
        }
        const headers = { 'content-type': 'application/json', ...authorization };
        const body = JSON.stringify({ topic, ...said, attach: notice.images[0]?.url ?? undefined });
        return endOf(await exchange({ url: root, headers, body }, parts, signal));
      }),
  };
}

function authorizationOf({ username, password }: URL, token: string | undefined): Record<string, string> {
  if (token !== undefined) return { authorization: `Bearer ${token}` };
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
