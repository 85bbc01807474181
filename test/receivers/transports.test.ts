import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Egress } from '../../src/egress/egress.ts';
import type { ImageLimits, Notice } from '../../src/receivers/notice.ts';
import type { Transport } from '../../src/receivers/transport.ts';
import { discordTransport } from '../../src/receivers/transports/discord.ts';
import { mailTransport } from '../../src/receivers/transports/mail.ts';
import { ntfyTransport } from '../../src/receivers/transports/ntfy.ts';
import { slackWebhookTransport } from '../../src/receivers/transports/slack.ts';
import { slackBotTransport } from '../../src/receivers/transports/slack-bot.ts';
import { teamsTransport } from '../../src/receivers/transports/teams.ts';
import { rateLimited, startDiscord } from '../support/receivers/discord.ts';
import { MAIL_USER, type MailReceiver, mailAddressOf, startMail } from '../support/receivers/mail.ts';
import { startNtfy } from '../support/receivers/ntfy.ts';
import { SLACK_CHANNEL, SLACK_TOKEN, startSlack } from '../support/receivers/slack.ts';
import { startTeams } from '../support/receivers/teams.ts';
import { exampleImage, messageOf, NEVER, PNG } from './example-notice.ts';
import { receiverEgress } from './receiver.ts';
import { trustForSuite } from './trust.ts';

const ALL_IMAGES = [exampleImage('difference'), exampleImage('after'), exampleImage('before')];
/** Longer than each service takes, with many facts, links and images. */
const HUGE: Partial<Notice> = {
  about: 'a'.repeat(5000),
  sentence: '_*[x](http://x.example) '.repeat(2000),
  facts: Array.from({ length: 60 }, (_, at) => ({ label: `Fact ${at}`, text: '<&> '.repeat(2000) })),
  links: Array.from({ length: 12 }, (_, at) => ({ label: `Link ${at}`, url: `https://x.example/${'p'.repeat(900)}` })),
  images: ALL_IMAGES,
};

let egress: Egress;

trustForSuite();
beforeAll(() => {
  egress = receiverEgress({ 'hooks.test': ['127.0.0.1'], 'inside.test': ['10.0.0.1'] });
});
afterAll(() => egress.close());

/** Returns a function that sends a message to a receiver. */
function sender(transportOf: (options: Egress & { readonly url: URL }) => Transport) {
  return ({ url }: { readonly url: URL }, changes: Partial<Notice> = {}) =>
    transportOf({ ...egress, url })(messageOf(changes), NEVER);
}
const toDiscord = sender(discordTransport);
const toSlack = sender(slackWebhookTransport);
const toTeams = sender(teamsTransport);
const toNtfy = sender(ntfyTransport);

describe('messages to Discord', () => {
  it('uploads the images and shows them in embeds', async () => {
    await using discord = await startDiscord();
    const end = await toDiscord(discord, { images: ALL_IMAGES });
    expect(end).toEqual({ end: 'delivered', status: 200 });
    const [message] = discord.messages;
    expect(message?.embeds.map(({ image }) => image?.url)).toEqual(
      ['difference', 'after', 'before'].map((name) => `attachment://${name}.png`),
    );
    expect(message?.files.get('difference.png')).toEqual(PNG);
    expect(message?.embeds[0]).toMatchObject({ url: 'https://capstan.example/shared/abc_d?expires=1&signature=0f' });
    expect(message?.allowed_mentions).toEqual({ parse: [] });
  });

  it('stays within all limits of a message', async () => {
    await using discord = await startDiscord();
    const end = await toDiscord(discord, HUGE);
    expect(end).toEqual({ end: 'delivered', status: 200 });
  });

  it('waits as long as a rate limit says, in fractions of a second', async () => {
    await using discord = await startDiscord();
    discord.faults.next(rateLimited(0.65));
    const end = await toDiscord(discord);
    expect(end).toMatchObject({ end: 'again', status: 429, afterMs: 650 });
  });

  it('obeys Retry-After and X-RateLimit-Reset-After when the answer is no JSON', async () => {
    await using discord = await startDiscord();
    const transport = discordTransport({ ...egress, url: discord.url });
    discord.faults.next({ status: 429, headers: { 'retry-after': '7' }, body: '<html>' });
    expect(await transport(messageOf(), NEVER)).toMatchObject({ end: 'again', afterMs: 7000 });
    discord.faults.next({ status: 429, headers: { 'x-ratelimit-reset-after': '1.5' }, body: '<html>' });
    expect(await transport(messageOf(), NEVER)).toMatchObject({ end: 'again', afterMs: 1500 });
  });

  it('sends the words alone when the files are too large', async () => {
    await using discord = await startDiscord({ maxFileBytes: 10 });
    const end = await toDiscord(discord, { images: ALL_IMAGES });
    expect(end.end).toBe('delivered');
    expect(discord.messages[0]?.files.size).toBe(0);
  });

  it.each(['/api/webhooks/2/token', '/api/webhooks/1/wrong'])(
    'is refused by a webhook that does not exist: %s',
    async (path) => {
      await using discord = await startDiscord();
      const end = await toDiscord({ url: new URL(path, discord.origin) });
      expect(end).toMatchObject({
        end: 'refused',
        reason: expect.stringMatching(/Unknown Webhook|Invalid Webhook Token/),
      });
    },
  );
});

describe('messages to a webhook of Slack', () => {
  it('shows images by their URLs', async () => {
    await using slack = await startSlack();
    const end = await toSlack(slack, { images: ALL_IMAGES });
    expect(end).toEqual({ end: 'delivered', status: 200 });
    expect(slack.messages[0]?.blocks.map(({ type }) => type)).toEqual(['rich_text', 'image', 'image', 'image']);
  });

  it('sends the words alone when Slack cannot load the images', async () => {
    await using slack = await startSlack({ loads: () => false });
    const end = await toSlack(slack, { images: ALL_IMAGES });
    expect(end).toEqual({ end: 'delivered', status: 200 });
    expect(slack.messages[0]?.blocks.map(({ type }) => type)).toEqual(['rich_text']);
  });

  it('stays within all limits of a message', async () => {
    await using slack = await startSlack();
    expect(await toSlack(slack, HUGE)).toMatchObject({
      end: 'delivered',
    });
  });

  it('waits as long as Retry-After says', async () => {
    await using slack = await startSlack();
    slack.faults.next({ status: 429, headers: { 'retry-after': '30' }, body: 'rate_limited' });
    const end = await toSlack(slack);
    expect(end).toEqual({
      end: 'again',
      status: 429,
      afterMs: 30_000,
      reason: 'the receiver answered 429: rate_limited',
    });
  });

  it('is refused by a webhook that was removed', async () => {
    await using slack = await startSlack();
    const end = await toSlack({ url: new URL('/services/T/B/gone', slack.origin) });
    expect(end).toEqual({ end: 'refused', status: 404, reason: 'the receiver answered 404: no_service' });
  });
});

describe('messages to Slack with a bot token', () => {
  const bot = { channel: SLACK_CHANNEL, token: SLACK_TOKEN };

  it('uploads the images and shares them with the message', async () => {
    await using slack = await startSlack();
    const end = await slackBotTransport({ ...egress, ...bot, api: slack.api })(
      messageOf({ images: ALL_IMAGES }),
      NEVER,
    );
    expect(end).toEqual({ end: 'delivered', status: 200 });
    expect(slack.messages).toHaveLength(1);
    expect(slack.messages[0]?.files).toEqual([PNG, PNG, PNG]);
  });

  it('posts a message without images', async () => {
    await using slack = await startSlack();
    const end = await slackBotTransport({ ...egress, ...bot, api: slack.api })(messageOf(), NEVER);
    expect(end).toEqual({ end: 'delivered', status: 200 });
    expect(slack.called).toEqual(['chat.postMessage']);
  });

  it('posts the words alone without the right to upload', async () => {
    await using slack = await startSlack({ scopes: ['chat:write'], loads: () => false });
    const end = await slackBotTransport({ ...egress, ...bot, api: slack.api })(
      messageOf({ images: ALL_IMAGES }),
      NEVER,
    );
    expect(end).toEqual({ end: 'delivered', status: 200 });
    expect(slack.messages.map(({ files }) => files)).toEqual([[]]);
  });

  it('reads errors out of answers with the status 200', async () => {
    await using slack = await startSlack();
    const transport = slackBotTransport({ ...egress, ...bot, api: slack.api, token: 'xoxb-wrong' });
    expect(await transport(messageOf(), NEVER)).toEqual({
      end: 'refused',
      status: 200,
      reason: 'chat.postMessage: invalid_auth',
    });
    slack.faults.next({ status: 200, body: { ok: false, error: 'internal_error' } });
    expect(await transport(messageOf(), NEVER)).toMatchObject({
      end: 'again',
      reason: 'chat.postMessage: internal_error',
    });
  });

  it('is tried again as a whole when an upload fails', async () => {
    await using slack = await startSlack();
    const transport = slackBotTransport({ ...egress, ...bot, api: slack.api });
    slack.faults.next({ status: 503, body: 'busy' });
    expect(await transport(messageOf({ images: ALL_IMAGES }), NEVER)).toMatchObject({ end: 'again', status: 503 });
    expect(slack.messages).toEqual([]);
  });
});

describe('messages to Teams', () => {
  it('posts a card with images by their URLs', async () => {
    await using teams = await startTeams();
    const end = await toTeams(teams, { images: ALL_IMAGES });
    expect(end).toEqual({ end: 'delivered', status: 202 });
    expect(teams.cards[0]?.body.filter(({ type }) => type === 'Image')).toHaveLength(3);
    expect(teams.cards[0]?.actions.map(({ title }) => title)).toEqual(['Comparison', 'Page']);
  });

  it('stays within the size of a message', async () => {
    await using teams = await startTeams();
    expect(await toTeams(teams, HUGE)).toEqual({
      end: 'delivered',
      status: 202,
    });
  });

  it('reads errors out of answers with the status 200', async () => {
    await using teams = await startTeams();
    const transport = teamsTransport({ ...egress, url: teams.url });
    const hidden = (status: number) => ({
      status: 200,
      body: `Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error ${status} with ContextId x`,
    });
    teams.faults.next(hidden(429), hidden(413));
    expect(await transport(messageOf(), NEVER)).toMatchObject({ end: 'again' });
    expect(await transport(messageOf(), NEVER)).toMatchObject({ end: 'refused' });
  });

  it('is refused by a workflow with another signature', async () => {
    await using teams = await startTeams();
    const url = new URL(teams.url);
    url.searchParams.set('sig', 'wrong');
    expect(await toTeams({ url })).toMatchObject({
      end: 'refused',
      status: 401,
    });
  });
});

describe('messages to ntfy', () => {
  it('uploads the first image, and has the rest beside it', async () => {
    await using ntfy = await startNtfy();
    const end = await toNtfy(ntfy, { images: ALL_IMAGES });
    expect(end).toEqual({ end: 'delivered', status: 200 });
    expect(ntfy.messages[0]).toMatchObject({
      topic: 'alerts',
      title: 'shop[.]example/lamps',
      message: 'Price fell from €59.00 to €47.50\nLabels: lamps, shop\nTime: 2026-11-29 14:00 UTC',
      click: 'https://capstan.example/shared/abc_d?expires=1&signature=0f',
      filename: 'difference.png',
      file: PNG,
      priority: 3,
    });
  });

  it.each([
    ['does not take attachments', null],
    ['takes none of this size', 10],
  ])('links the image when the server %s', async (_, maxFileBytes) => {
    await using ntfy = await startNtfy({ maxFileBytes });
    const end = await toNtfy(ntfy, { images: ALL_IMAGES });
    expect(end.end).toBe('delivered');
    expect(ntfy.messages).toMatchObject([
      { file: null, attach: 'https://capstan.example/shared/difference?signature=1' },
    ]);
  });

  it('has a high priority for problems', async () => {
    await using ntfy = await startNtfy();
    await toNtfy(ntfy, { isProblem: true });
    expect(ntfy.messages[0]).toMatchObject({ priority: 4, tags: ['warning'] });
  });

  it('stays within all limits of a message', async () => {
    await using ntfy = await startNtfy();
    const transport = ntfyTransport({ ...egress, url: ntfy.url });
    expect(await transport(messageOf({ ...HUGE, images: [] }), NEVER)).toMatchObject({ end: 'delivered' });
    expect(await transport(messageOf({ ...HUGE, sentence: '日'.repeat(9000) }), NEVER)).toMatchObject({
      end: 'delivered',
    });
  });

  it('sends its access token', async () => {
    await using ntfy = await startNtfy({ token: 'tk_1' });
    const url = new URL(ntfy.url.href.replace('//', '//tk_1@'));
    expect(await toNtfy({ url })).toMatchObject({ end: 'delivered' });
    expect(await toNtfy(ntfy)).toMatchObject({ end: 'refused', status: 403 });
  });

  it('is tried again after a limit of visitors', async () => {
    await using ntfy = await startNtfy();
    ntfy.faults.next({ status: 429, body: { code: 42_901, http: 429, error: 'limit reached: too many requests' } });
    expect(await toNtfy(ntfy)).toMatchObject({
      end: 'again',
      status: 429,
    });
  });
});

describe('messages by mail', () => {
  const address = (scheme: 'smtp' | 'smtps', server: MailReceiver, more = '') =>
    mailAddressOf(scheme, server, `ops@shop.example,b@shop.example${more}`);
  const send = (at: ReturnType<typeof address>, changes: Partial<Notice> = {}, id?: string) =>
    mailTransport({ ...egress, address: at })(messageOf(changes, id), NEVER);

  it('sends text, HTML and images over TLS', async () => {
    await using server = await startMail({ secure: true });
    expect(await send(address('smtps', server), { images: ALL_IMAGES })).toEqual({ end: 'delivered', status: 250 });
    const [{ mail, to, user, isSecure } = { mail: undefined, to: [], user: '', isSecure: false }] = server.mails;
    expect({ to, user, isSecure }).toEqual({
      to: ['ops@shop.example', 'b@shop.example'],
      user: MAIL_USER,
      isSecure: true,
    });
    expect(mail).toMatchObject({
      subject: 'shop.example/lamps: Price fell from €59.00 to €47.50',
      from: { name: 'Capstan', address: MAIL_USER },
      messageId: '<evt_1@shop.example>',
    });
    const cids = [...(mail?.html ?? '').matchAll(/src="cid:([^"]+)"/g)].map(([, cid]) => `<${cid}>`);
    expect(mail?.attachments.map(({ contentId, disposition }) => ({ contentId, disposition }))).toEqual(
      cids.map((contentId) => ({ contentId, disposition: 'inline' })),
    );
    expect(cids).toHaveLength(3);
  });

  it('goes on after STARTTLS', async () => {
    await using server = await startMail();
    expect(await send(address('smtp', server))).toMatchObject({ end: 'delivered' });
    expect(server.mails[0]?.isSecure).toBe(true);
  });

  it('sends no password to a server without STARTTLS, unless it is told to', async () => {
    await using server = await startMail({ disabledCommands: ['STARTTLS'], allowInsecureAuth: true });
    expect(await send(address('smtp', server))).toMatchObject({
      end: 'refused',
      reason: expect.stringMatching(/STARTTLS|TLS/),
    });
    expect(await send(address('smtp', server, '&tls=none'))).toMatchObject({ end: 'delivered' });
    expect(server.mails.map(({ isSecure }) => isSecure)).toEqual([false]);
  });

  it('has the same Message-ID for each attempt of a message', async () => {
    await using server = await startMail({ secure: true });
    server.refuse({ code: 451, text: 'Try again later' });
    expect(await send(address('smtps', server), {}, 'evt_7')).toEqual({
      ...{ end: 'again', status: 451, afterMs: null },
      reason: expect.stringContaining('Try again later'),
    });
    expect(await send(address('smtps', server), {}, 'evt_7')).toMatchObject({ end: 'delivered' });
    expect(await send(address('smtps', server), {}, 'evt_7')).toMatchObject({ end: 'delivered' });
    expect(new Set(server.mails.map(({ mail }) => mail.messageId))).toEqual(new Set(['<evt_7@shop.example>']));
  });

  it('is refused by replies of 5yz, such as one to a wrong password', async () => {
    await using server = await startMail({ secure: true });
    server.refuse({ code: 550, text: 'No such user here' });
    expect(await send(address('smtps', server))).toMatchObject({ end: 'refused', status: 550 });
    expect(await send({ ...address('smtps', server), password: 'wrong' })).toMatchObject({
      end: 'refused',
      status: 535,
    });
  });

  it('sends the words alone when the message is too large', async () => {
    await using server = await startMail({ secure: true, size: 8000 });
    const images = [exampleImage('difference', { bytes: Buffer.alloc(20_000) })];
    expect(await send(address('smtps', server), { images })).toMatchObject({ end: 'delivered' });
    expect(server.mails[0]?.mail.attachments).toEqual([]);
  });

  it('trusts no certificate of another name', async () => {
    await using server = await startMail({ secure: true });
    expect(await send({ ...address('smtps', server), host: '127.0.0.1' })).toMatchObject({ end: 'again' });
    expect(server.mails).toEqual([]);
  });

  it('connects to no address that the policy refuses', async () => {
    await using server = await startMail({ secure: true });
    expect(await send({ ...address('smtps', server), host: 'inside.test' })).toMatchObject({
      end: 'forbidden',
      reason: expect.stringContaining('resolves to an address that is'),
    });
  });

  it('limits the time of an attempt as a whole: of reading images, too', async () => {
    const timeoutMs = 1;
    const read: string[] = [];
    const images = ALL_IMAGES.map((image) => ({
      ...image,
      read: async (limits: ImageLimits) => {
        read.push(image.name);
        // As long as the limit of the attempt, which began before.
        await once(AbortSignal.timeout(4 * timeoutMs), 'abort');
        return image.read(limits);
      },
    }));
    const nobody = mailAddressOf('smtps', { port: 9 }, 'ops@shop.example');
    const end = await mailTransport({ ...egress, address: nobody, timeoutMs })(messageOf({ images }), NEVER);
    expect(end).toEqual({ end: 'again', status: null, afterMs: null, reason: 'the attempt was broken off' });
    expect(read).toEqual(['difference']);
  });

  it('ends an attempt that is broken off', async () => {
    const given = new AbortController();
    await using server = await startMail({ secure: true, onConnect: () => given.abort() });
    const end = await mailTransport({ ...egress, address: address('smtps', server) })(messageOf(), given.signal);
    expect(end).toEqual({ end: 'again', status: null, afterMs: null, reason: 'the attempt was broken off' });
  });
});

describe('every transport over HTTP', () => {
  it('connects to no address that the policy refuses', async () => {
    const url = new URL('http://inside.test/hook');
    for (const transport of [
      discordTransport({ ...egress, url }),
      slackWebhookTransport({ ...egress, url }),
      slackBotTransport({ ...egress, channel: SLACK_CHANNEL, token: SLACK_TOKEN, api: url }),
      teamsTransport({ ...egress, url }),
      ntfyTransport({ ...egress, url }),
    ]) {
      expect(await transport(messageOf(), NEVER)).toMatchObject({ end: 'forbidden', status: null });
    }
  });

  it('is tried again when nothing answers', async () => {
    const discord = await startDiscord();
    await discord[Symbol.asyncDispose]();
    const end = await toDiscord(discord);
    expect(end).toMatchObject({ end: 'again', status: null, reason: expect.stringContaining('connection refused') });
  });
});
