/** The meaning of by-host: a value, the hosts that it matches, and hosts that it does not match. */
export const BY_HOST_TABLE: readonly {
  readonly value: string;
  readonly hosts: readonly string[];
  readonly others: readonly string[];
}[] = [
  {
    value: 'example.com',
    hosts: ['example.com', 'www.example.com', 'a.b.example.com', 'example.com.au', 'example.community'],
    others: ['notexample.com', 'example.org', 'com', 'example-x.com', 'wwwexample.com', 'www.example-x.com'],
  },
  { value: ' Example.COM ', hosts: ['example.com', 'www.example.com'], others: ['example.org'] },
  {
    value: 'example',
    hosts: ['example.com', 'example-x.com', 'a.example'],
    others: ['notexample.com', 'a.example.com'],
  },
  // A dot at the end is literal: the host continues after it.
  {
    value: 'example.',
    hosts: ['example.com', 'example.com.au'],
    others: ['example-x.com', 'a.example', 'examples.com'],
  },
  // Hosts with a trailing dot, which a URL may have.
  { value: 'example.com', hosts: ['example.com.', 'www.example.com.'], others: ['www.example.org.'] },
  { value: '.example.com', hosts: [], others: ['www.example.com', 'example.com'] },
  { value: 'ex.mple.com', hosts: ['ex.mple.com'], others: ['example.com', 'exxmple.com'] },
  { value: 'e*', hosts: [], others: ['example.com', 'e.com'] },
  { value: 'e%', hosts: [], others: ['example.com', 'e.com'] },
  { value: 'e_ample', hosts: ['e_ample.com'], others: ['example.com'] },
  { value: 'e', hosts: ['example.com', 'e.com', 'a.e'], others: ['www.example.com'] },
  {
    value: 'com',
    hosts: ['example.com', 'com.de', 'com', 'computer.org'],
    others: ['example.org', 'telecom', 'a.telecom'],
  },
  {
    value: 'bücher.example',
    hosts: ['xn--bcher-kva.example', 'www.xn--bcher-kva.example'],
    others: ['bucher.example', 'xn--bcher-xyz.example'],
  },
  { value: 'BÜCHER.example', hosts: ['xn--bcher-kva.example'], others: ['bucher.example'] },
  {
    value: 'xn--bcher-kva.example',
    hosts: ['xn--bcher-kva.example', 'www.xn--bcher-kva.example'],
    others: ['bucher.example'],
  },
  // bücherei
  { value: 'bücher', hosts: ['xn--bcher-kva.example', 'xn--bcherei-n2a.example'], others: ['xn--bcher-5ra.example'] },
  // The punycode of a prefix is not a prefix of the punycode.
  { value: 'bü', hosts: ['xn--bcher-kva.example', 'xn--bro-hoa.de'], others: ['bb.example', 'xn--mnchen-3ya.de'] },
  { value: '127.0.0', hosts: ['127.0.0.1'], others: ['10.127.0.0'] },
  // An address has no subdomains.
  { value: '0.1', hosts: ['0.1.2.3'], others: ['127.0.0.1', '10.0.0.1'] },
  { value: '1', hosts: ['10.0.0.1', '1.example'], others: ['2.2.2.1'] },
  { value: '[2001:DB8::1]', hosts: ['2001:db8::1'], others: ['2001:db8::2'] },
  { value: '[2001:db8', hosts: ['2001:db8::1', '2001:db8::2'], others: ['2001:db9::1'] },
];
