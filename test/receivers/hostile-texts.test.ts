import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Egress } from '../../src/egress/egress.ts';
import type { Notice } from '../../src/receivers/notice.ts';
import type { Transport } from '../../src/receivers/transport.ts';
import { discordTransport } from '../../src/receivers/transports/discord.ts';
import { mailTransport } from '../../src/receivers/transports/mail.ts';
import { ntfyTransport } from '../../src/receivers/transports/ntfy.ts';
import { slackWebhookTransport } from '../../src/receivers/transports/slack.ts';
import { teamsTransport } from '../../src/receivers/transports/teams.ts';
import { type DiscordReceiver, startDiscord } from '../support/receivers/discord.ts';
import { type MailReceiver, mailAddressOf, startMail } from '../support/receivers/mail.ts';
import { type NtfyReceiver, startNtfy } from '../support/receivers/ntfy.ts';
import { type SlackReceiver, startSlack } from '../support/receivers/slack.ts';
import { startTeams, type TeamsReceiver } from '../support/receivers/teams.ts';
import { messageOf, NEVER } from './example-notice.ts';
import { HOSTILE_TEXTS } from './hostile-texts.ts';
import { receiverEgress } from './receiver.ts';
import {
  type Rendered,
  renderDiscord,
  renderMailHtml,
  renderMailText,
  renderNtfy,
  renderSlack,
  renderTeams,
} from './rendered.ts';
import { trustForSuite } from './trust.ts';

const LINKS = [
  { label: 'Comparison', url: 'https://capstan.example/shared/abc_d?expires=1&signature=0f' },
  { label: 'Page', url: 'https://shop.example/?q=|%3Cx%3E(y)' },
];
const TARGETS = [LINKS[0]?.url ?? '', 'https://shop.example/?q=%7C%3Cx%3E%28y%29'];

let egress: Egress;
let discord: DiscordReceiver;
let slack: SlackReceiver;
let teams: TeamsReceiver;
let ntfy: NtfyReceiver;
let mail: MailReceiver;

trustForSuite();
beforeAll(async () => {
  egress = receiverEgress({ 'hooks.test': ['127.0.0.1'] });
  [discord, slack, teams, ntfy, mail] = await Promise.all([
    startDiscord(),
    startSlack(),
    startTeams(),
    startNtfy(),
    startMail({ secure: true }),
  ]);
});
afterAll(async () => {
  await egress.close();
  await Promise.all([discord, slack, teams, ntfy, mail].map((receiver) => receiver[Symbol.asyncDispose]()));
});

function noticeWith(text: string): Partial<Notice> {
  return { about: text, sentence: text, facts: [{ label: 'Labels', text }], links: LINKS, images: [] };
}

/** The letters and digits of a text, which no escape may lose. */
function wordsOf(text: string): string {
  return (text.normalize('NFC').match(/[\p{L}\p{N}]/gu) ?? []).join('');
}

/** Sends a text, and returns the message that the receiver has taken last. */
async function taken<T>(transport: Transport, text: string, messages: readonly T[]): Promise<T> {
  expect(await transport(messageOf(noticeWith(text)), NEVER)).toMatchObject({ end: 'delivered' });
  const message = messages.at(-1);
  if (message === undefined) throw new Error('the receiver has no message');
  return message;
}

/** Characters that no reader may be shown: control characters, overrides of direction, and lone surrogates. */
const UNWANTED = /[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]--[\n\u2060]]/v;

function expectText({ text, links, markup }: Rendered, hostile: string): void {
  expect({ links: [...new Set(links)].toSorted(), markup: [...new Set(markup)] }).toEqual({
    links: TARGETS.toSorted(),
    markup: [],
  });
  expect(text).not.toMatch(UNWANTED);
  expect(wordsOf(text)).toContain(wordsOf(hostile.replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '')));
}

describe.each(Object.entries(HOSTILE_TEXTS))('a page with %s', (_, text) => {
  it('is shown as text by Slack', async () => {
    const transport = slackWebhookTransport({ ...egress, url: slack.url });
    expectText(renderSlack(await taken(transport, text, slack.messages)), text);
  });

  it('is shown as text by Discord', async () => {
    const transport = discordTransport({ ...egress, url: discord.url });
    expectText(renderDiscord(await taken(transport, text, discord.messages)), text);
  });

  it('is shown as text by Teams', async () => {
    const transport = teamsTransport({ ...egress, url: teams.url });
    expectText(renderTeams(await taken(transport, text, teams.cards)), text);
  });

  it('is shown as text by ntfy', async () => {
    const message = await taken(ntfyTransport({ ...egress, url: ntfy.url }), text, ntfy.messages);
    const rendered = renderNtfy(message);
    // Its links are buttons.
    expectText({ ...rendered, links: [...rendered.links, ...message.actions.map(({ url }) => url)] }, text);
  });

  it('is shown as text in a mail, and adds no header', async () => {
    const address = mailAddressOf('smtps', mail, 'ops@shop.example');
    const got = await taken(mailTransport({ ...egress, address }), text, mail.mails);
    expectText(renderMailText(got), text);
    expectText(renderMailHtml(got), text);
    expect(wordsOf(got.mail.subject ?? '')).toContain(wordsOf(text.replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '')).slice(0, 40));
    expect(got.mail.headers.map(({ key }) => key).toSorted()).toEqual(
      [
        'from',
        'to',
        'subject',
        'message-id',
        'auto-submitted',
        'x-auto-response-suppress',
        'date',
        'mime-version',
        'content-type',
      ].toSorted(),
    );
    expect([got.to, got.mail.to, got.mail.bcc]).toEqual([
      ['ops@shop.example'],
      [{ address: 'ops@shop.example', name: '' }],
      undefined,
    ]);
  });
});
