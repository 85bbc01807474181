import { describe, expect, it } from 'vitest';
import { MESSENGERS } from '../../src/capture/work/receiver.ts';
import { readMailAddress } from '../../src/receivers/transports/mail-address.ts';
import { TRANSPORTS } from '../../src/receivers/transports.ts';
import { SLACK_CHANNEL, SLACK_TOKEN, startSlack } from '../support/receivers/slack.ts';
import { messageOf, NEVER } from './example-notice.ts';
import { receiverEgress } from './receiver.ts';

describe('the address of a messenger', () => {
  it.each(MESSENGERS)('is refused for %s with the form that is accepted', (kind) => {
    const { forms, read } = TRANSPORTS[kind];
    const refused = read('ftp://x:hidden@y/');
    expect(refused).toContain(forms[0]?.slice(0, 8));
    expect(refused).not.toContain('hidden');
  });

  it.each([
    ['ntfy', 'https://ntfy.sh/%zz'],
    ['ntfy', 'https://ntfy.sh//other.example/topic'],
    ['ntfy', 'https://%zz@ntfy.sh/topic'],
    ['slack', 'https://%zz@slack.com/C0123456789'],
    ['slack', 'https://xoxb-1-a@slack.com/general'],
    ['webhook', 'ftp://program.example/hook'],
    ['webhook', 'https://a%zz@program.example/hook'],
    ['webhook', 'https://%c3:%bc@program.example/hook'],
    ['mail', 'smtps://%zz@mail.example/?to=a@shop.example'],
  ] as const)('refuses an address that cannot be read: %s:%s', (kind, text) => {
    expect(TRANSPORTS[kind].read(text)).toMatch(/^(must be a URL such as|has a user or password)/);
  });

  it.each([
    ['smtps://mail.example/', 'must name whom it is for'],
    ['smtps://mail.example/?to=a@b.example', 'must name the sender'],
    ['smtps://a%40b.example@mail.example/?to=a@b.example%0d%0aBcc:c@d.example', 'which is no mail address'],
    ['smtps://a%40b.example@mail.example/?to=%22x%22@b.example', 'which is no mail address'],
    ['smtps://a%40b.example@mail.example/?to=a@b.example&tls=none', 'that with smtp:// alone'],
    ['smtps://a%40b.example@mail.example/?to=a@b.example&cc=c@d.example', 'the unknown parameter cc'],
  ])('is refused for mail: %s', (text, problem) => {
    expect(readMailAddress(text)).toContain(problem);
  });

  it('has the port of its kind of TLS', () => {
    const portOf = (text: string) => {
      const read = readMailAddress(text);
      return typeof read === 'object' ? [read.port, read.tls] : read;
    };
    const rest = 'a%40b.example@mail.example/?to=a@b.example';
    expect(portOf(`smtps://${rest}`)).toEqual([465, 'implicit']);
    expect(portOf(`smtp://${rest}`)).toEqual([587, 'starttls']);
    expect(portOf(`smtp://${rest}&tls=none`)).toEqual([587, 'none']);
  });

  it('names a channel of Slack, with a bot token', async () => {
    await using slack = await startSlack();
    const egress = receiverEgress();
    const address = TRANSPORTS.slack.read(`https://${SLACK_TOKEN}@slack.com/${SLACK_CHANNEL}`);
    if (typeof address === 'string') throw new Error(address);
    const parts = { ...egress, keys: () => [], clock: Date.now, api: slack.api };
    expect(await address.open(parts)(messageOf(), NEVER)).toEqual({ end: 'delivered', status: 200 });
    expect(slack.called).toEqual(['chat.postMessage']);
    await egress.close();
  });
});
