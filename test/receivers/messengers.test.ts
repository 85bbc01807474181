import { describe, expect, it } from 'vitest';
import { MESSENGERS } from '../../src/capture/work/receiver.ts';
import { MESSENGER_FACTS, openMessenger, readMessengerAddress } from '../../src/receivers/transports/messengers.ts';
import { startNtfy } from '../support/receivers/ntfy.ts';
import { messageOf, NEVER } from './example-notice.ts';
import { receiverEgress } from './receiver.ts';

describe('the address of a messenger', () => {
  it.each(MESSENGERS)('is refused for %s with the form that is accepted', (kind) => {
    const refused = readMessengerAddress(kind, 'ftp://x:hidden@y/');
    expect(refused).toContain(MESSENGER_FACTS[kind].forms[0]?.slice(0, 8));
    expect(refused).not.toContain('hidden');
  });

  it.each([
    ['ntfy', 'https://ntfy.sh/%zz'],
    ['ntfy', 'https://ntfy.sh//other.example/topic'],
    ['ntfy', 'https://%zz@ntfy.sh/topic'],
    ['slack', 'https://%zz@slack.com/C0123456789'],
    ['mail', 'smtps://%zz@mail.example/?to=a@shop.example'],
  ] as const)('refuses an address that cannot be read: %s:%s', (kind, text) => {
    expect(readMessengerAddress(kind, text)).toMatch(/^(must be a URL such as|has a user or password)/);
  });

  it('names a channel of Slack, with a bot token', () => {
    expect(readMessengerAddress('slack', 'https://xoxb-1-a@slack.com/C0123456789')).toEqual({
      ...{ kind: 'slack', channel: 'C0123456789', token: 'xoxb-1-a' },
    });
    expect(readMessengerAddress('slack', 'https://xoxb-1-a@slack.com/general')).toContain('must be a URL such as');
  });

  it.each([
    ['smtps://mail.example/', 'must name whom it is for'],
    ['smtps://mail.example/?to=a@b.example', 'must name the sender'],
    ['smtps://a%40b.example@mail.example/?to=a@b.example%0d%0aBcc:c@d.example', 'which is no mail address'],
    ['smtps://a%40b.example@mail.example/?to=%22x%22@b.example', 'which is no mail address'],
    ['smtps://a%40b.example@mail.example/?to=a@b.example&tls=none', 'that with smtp:// alone'],
    ['smtps://a%40b.example@mail.example/?to=a@b.example&cc=c@d.example', 'the unknown parameter cc'],
  ])('is refused for mail: %s', (text, problem) => {
    expect(readMessengerAddress('mail', text)).toContain(problem);
  });

  it('has the port of its kind of TLS', () => {
    const portOf = (text: string) => {
      const read = readMessengerAddress('mail', text);
      return typeof read === 'object' && read.kind === 'mail' ? [read.address.port, read.address.tls] : read;
    };
    const rest = 'a%40b.example@mail.example/?to=a@b.example';
    expect(portOf(`smtps://${rest}`)).toEqual([465, 'implicit']);
    expect(portOf(`smtp://${rest}`)).toEqual([587, 'starttls']);
    expect(portOf(`smtp://${rest}&tls=none`)).toEqual([587, 'none']);
  });

  it('opens the transport of its kind', async () => {
    await using ntfy = await startNtfy({ token: 'tk_1' });
    const egress = receiverEgress();
    const address = readMessengerAddress('ntfy', ntfy.url.href.replace('//', '//tk_1@'));
    if (typeof address === 'string') throw new Error(address);
    const transport = openMessenger(address, egress);
    expect(await transport.send(messageOf(), NEVER)).toEqual({ end: 'delivered', status: 200 });
    await egress.close();
  });
});
