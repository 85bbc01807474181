import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { listed, pieces } from './lists.ts';

/*
 * Lists as people have them: from other shells, spreadsheets, mails, and options of tools that are not the usual ones.
 */

const problemsOf = ({ problems }: Awaited<ReturnType<typeof listed>>['report']) =>
  problems.map(({ line, text, problem }) => `${line}: ${text} ${problem}`);

describe('a list as people have it', () => {
  it('is an nmap scan of all ports with -sV, from an old version, that was interrupted', async () => {
    const { urls, report } = await listed(`<?xml version="1.0" ?>
<!-- nmap 4.76 scan initiated Mon Jan  5 2009 as: nmap -sV -p- -oX scan.xml 192.0.2.0/29 -->
<nmaprun scanner="nmap" args="nmap -sV -p- -oX scan.xml 192.0.2.0/29" start="1" version="4.76" xmloutputversion="1.02">
<taskbegin task="Ping Scan" time="1" />
<host><status state="down" reason="no-response"/><address addr="192.0.2.0" addrtype="ipv4" /></host>
<host><status state="up" reason="reset"/><address addr="192.0.2.1" addrtype="ipv4" /><hostnames><hostname name="gw.example" type="PTR" /></hostnames>
<ports><extraports state="closed" count="65529" />
<port protocol="tcp" portid="22"><state state="open" reason="syn-ack" reason_ttl="64"/><service name="ssh" product="OpenSSH" method="probed" conf="10" /></port>
<port protocol="tcp" portid="443"><state state="open" reason="syn-ack" reason_ttl="64"/><service name="http" product="Apache httpd" tunnel="ssl" method="probed" conf="10" /></port>
<port protocol="tcp" portid="993"><state state="open" reason="syn-ack" reason_ttl="64"/><service name="imap" tunnel="ssl" method="probed" conf="10" /></port>
<port protocol="tcp" portid="5800"><state state="open" reason="syn-ack" reason_ttl="64"/><service name="vnc-http" method="probed" conf="10" /></port>
<port protocol="tcp" portid="7443"><state state="open" reason="syn-ack" reason_ttl="64"/><service name="oracleas-https" method="table" conf="3" /></port>
<port protocol="tcp" portid="8081"><state state="open|filtered" reason="no-response" reason_ttl="0"/><service name="http-proxy" method="table" conf="3" /></port>
</ports></host>
<host><status state="up" reason="reset"/><address addr="192.0.2.2" addrtype="ipv4" /><ports><port protocol="tcp" po`);
    expect(urls).toEqual(['https://192.0.2.1/', 'http://192.0.2.1:5800/', 'https://192.0.2.1:7443/']);
    expect(report.left_out).toEqual({ host_down: 1, other_service: 2, closed_port: 1, unfinished: 1 });
  });

  it('is the XML of masscan, which knows ports and no services', async () => {
    const { urls, report } = await listed(`<?xml version="1.0"?>
<!-- masscan v1.0 scan -->
<nmaprun scanner="masscan" start="1700000000" version="1.0-BETA"  xmloutputversion="1.03">
<scaninfo type="syn" protocol="tcp" />
<host endtime="1700000001"><address addr="192.0.2.1" addrtype="ipv4"/><ports><port protocol="tcp" portid="80"><state state="open" reason="syn-ack" reason_ttl="57"/></port></ports></host>
<host endtime="1700000001"><address addr="192.0.2.1" addrtype="ipv4"/><ports><port protocol="tcp" portid="8443"><state state="open" reason="syn-ack" reason_ttl="57"/></port></ports></host>
<host endtime="1700000002"><address addr="192.0.2.2" addrtype="ipv4"/><ports><port protocol="udp" portid="161"><state state="open" reason="none" reason_ttl="57"/></port></ports></host>
<runstats><finished time="1700000009" timestr="2023-11-14 22:13:29" elapsed="9" /><hosts up="3" down="0" total="3" /></runstats>
</nmaprun>`);
    expect(urls).toEqual(['http://192.0.2.1/', 'https://192.0.2.1:8443/?']);
    expect(report.left_out).toEqual({ other_service: 1 });
  });

  it.each([
    ['a comma after the last record', ',\n]\n'],
    ['a comma on a line of its own, and no end', '\n,\n'],
    ['the end of old versions', ',\n{finished: 1}\n]\n'],
  ])('is the JSON of masscan, with banners and %s', async (_, end) => {
    const { urls, report } = await listed(
      `[\n{   "ip": "192.0.2.1",   "timestamp": "1700000000", "ports": [ {"port": 80, "proto": "tcp", "status": "open", "reason": "syn-ack", "ttl": 57} ] }\n,\n{   "ip": "192.0.2.1",   "timestamp": "1700000001", "ports": [ {"port": 80, "proto": "tcp", "service": {"name": "http", "banner": "HTTP/1.1 200 OK\\u0d0aServer: {\\"a\\"}, [b]"}} ] }${end}`,
    );
    expect(urls).toEqual(['http://192.0.2.1/']);
    expect(report).toMatchObject({ form: 'masscan', targets: 1, left_out: { duplicate: 1 } });
  });

  it('is the output of masscan -oD, an object on each line', async () => {
    const { urls, report } = await listed(
      '{"ip":"192.0.2.1","timestamp":"1700000000","port":443,"proto":"tcp","rec_type":"status","data":{"status":"open","reason":"syn-ack","ttl":57}}\n{"ip":"192.0.2.1","timestamp":"1700000001","port":443,"proto":"tcp","rec_type":"banner","data":{"service_name":"ssl","banner":"TLS/1.2"}}\n{"ip":"192.0.2.2","timestamp":"1700000002","port":80,"proto":"tcp","rec_type":"status","data":{"status":"closed","reason":"rst","ttl":57}}\n',
    );
    expect(urls).toEqual(['https://192.0.2.1/']);
    expect(report.left_out).toEqual({ duplicate: 1, closed_port: 1 });
  });

  it('is an index of sitemaps, compressed, whose sitemaps are compressed, too', async () => {
    const sitemap = (...urls: readonly string[]) =>
      gzipSync(
        `\ufeff<?xml version="1.0" encoding="UTF-8"?>\r\n<!-- made by a plugin -->\r\n<sm:urlset xmlns:sm="http://www.sitemaps.org/schemas/sitemap/0.9">${urls.map((url) => `<sm:url><sm:loc>\n  ${url}\n</sm:loc></sm:url>`).join('')}</sm:urlset>`,
      );
    const files = new Map([
      [
        'https://shop.example/sitemap-1.xml.gz',
        sitemap('https://shop.example/a?x=1&amp;y=2', 'https://shop.example/b'),
      ],
      ['https://shop.example/sitemap-2.xml.gz', sitemap('/relative', 'https://shop.example/b')],
    ]);
    const index = `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${[...files.keys()].map((url) => `<sitemap><loc>${url}</loc><lastmod>2026-01-01</lastmod></sitemap>`).join('')}</sitemapindex>`;
    const { urls, report } = await listed(gzipSync(index), {}, (url) => pieces(files.get(url) ?? Buffer.of()));
    expect(urls).toEqual(['https://shop.example/a?x=1&y=2', 'https://shop.example/b']);
    expect(report.left_out).toEqual({ invalid: 1, duplicate: 1 });
    expect(problemsOf(report)).toEqual(['5: /relative is no http:// or https:// URL, as sitemaps have']);
  });

  it('is a table of a spreadsheet, with a byte order mark, quotes, and line breaks in cells', async () => {
    const { urls, report } = await listed(
      '\ufeff"Owner, team";"URL";"Notes"\r\n"Shop; ""web""";"https://shop.example/?a=1;b=2";"first\r\nsecond"\r\nOps;"\'=cmd.example\n admin.example:8443";\r\nOps;;"no address yet"\r\n;"two words, one cell";\r\n',
    );
    expect(urls).toEqual([
      'https://shop.example/?a=1;b=2',
      'https://admin.example:8443/?',
      'https://two/?',
      'https://one/?',
      'https://cell/?',
    ]);
    expect(report).toMatchObject({ form: 'csv', left_out: { no_url: 1, invalid: 2 } });
    expect(problemsOf(report)).toEqual([
      '5: =cmd.example has the host =cmd.example: hosts have letters, digits, hyphens and dots',
      '7: words, has the host words,: hosts have letters, digits, hyphens and dots',
    ]);
  });

  it.each([
    ['"Name,\r\nteam","Notes",URL\r\n"a","b\r\nc",one.example\r\nx,y,=cmd.example,\r\n', 5],
    ['URL\t"say ""so"",\n\nif needed"\none.example\tx\n=cmd.example\n', 5],
    ['5" screens;URL\n2;one.example\n3;=cmd.example\n', 3],
  ])('is a table whose names of columns have line breaks or quotes: %j', async (table, problemLine) => {
    const { urls, report } = await listed(table);
    expect(report.form).toBe('csv');
    expect(urls).toEqual(['https://one.example/?']);
    expect(report.problems.map(({ line }) => line)).toEqual([problemLine]);
  });

  it('is a column of URLs with commas, and no other column', async () => {
    const { urls } = await listed('url\nhttps://a.example/?a=1,2\n"https://b.example/?a=1,2"\n');
    expect(urls).toEqual(['https://a.example/?a=1,2', 'https://b.example/?a=1,2']);
  });

  it('is a column of URLs whose rows have a title or commas at their end', async () => {
    const { urls, report } = await listed(
      'url\nhttps://a.example,My title page\nhttps://b.example/x, Title\nc.example,office\nhttps://d.example/a,b,,\n',
    );
    expect(urls).toEqual(['https://a.example/', 'https://b.example/x', 'https://c.example/?', 'https://d.example/a,b']);
    expect(report.left_out).toEqual({});
  });

  it.each(['sep=;\r\nname;url\r\nx;https://a.example/?a=1,2\r\n', 'sep=|\nurl|name\nhttps://a.example/?a=1,2|x\n'])(
    'is a table whose first line names its separator, as Excel has it: %j',
    async (table) => {
      const { urls, report } = await listed(table);
      expect(urls).toEqual(['https://a.example/?a=1,2']);
      expect(report).toMatchObject({ form: 'csv', left_out: {} });
    },
  );

  it('is a sitemap in the encoding that it declares', async () => {
    const sitemap = (encoding: string) =>
      `<?xml version="1.0" encoding="${encoding}"?>\n<urlset><url><loc>https://a.example/caf\u00e9</loc></url></urlset>`;
    const inLatin1 = Buffer.from(sitemap('ISO-8859-1'), 'latin1');
    for (const list of [
      inLatin1,
      gzipSync(inLatin1),
      sitemap('UTF-8'),
      `\ufeff${sitemap('latin1')}`,
      sitemap('utf-16'),
    ]) {
      expect((await listed(list)).urls).toEqual(['https://a.example/caf%C3%A9']);
    }
    expect(problemsOf((await listed(sitemap('x-none'))).report)).toEqual([
      '0:  cannot be read to its end: The "x-none" encoding is not supported',
    ]);
  });

  it('is a sitemap with blank lines before its first tag', async () => {
    const { urls, report } = await listed(
      '\n\n<?xml version="1.0" encoding="UTF-8"?>\n<urlset><url><loc>https://a.example/</loc></url></urlset>',
    );
    expect(urls).toEqual(['https://a.example/']);
    expect(report).toMatchObject({ form: 'sitemap', left_out: {} });
  });

  it('names XML of another kind', async () => {
    const { urls, report } = await listed('<rss><channel><item><link>https://a.example/</link></item></channel></rss>');
    expect(urls).toEqual([]);
    expect(problemsOf(report)).toEqual([
      '1: <rss> is not supported: XML lists are output of nmap or masscan, or sitemaps',
    ]);
  });

  it('is a short gzip file that was broken off: it has what comes before the damage', async () => {
    const file = gzipSync('a.example\nb.example\n', { level: 0 });
    const { urls, report } = await listed(file.subarray(0, -9));
    expect(urls).toEqual(['https://a.example/?']);
    expect(problemsOf(report)).toEqual(['0:  cannot be read to its end: unexpected end of file']);
    expect((await listed(file.subarray(0, 4))).report.left_out).toEqual({ unfinished: 1 });
  });

  it.each(['utf16le', 'utf16be'] as const)('is a file of PowerShell in %s', async (encoding) => {
    const bytes = Buffer.from('\ufeffbücher.example\r\n# done\r\nhttp://intranet:8080/\r\n', 'utf16le');
    const { urls } = await listed(encoding === 'utf16be' ? bytes.swap16() : bytes);
    expect(urls).toEqual(['https://xn--bcher-kva.example/?', 'http://intranet:8080/']);
  });

  it('is a list of ranges, in every way of writing them', async () => {
    const { urls, report } = await listed(
      '192.0.2.1-2\n192.0.2.4 - 192.0.2.5\n192.0.2.7–8\n192.0.2.10/31\n2001:db8::a/127\n2001:db8::1%eth0\n[fe80::1%25eth0]:8080\nfe80::/64%1\n192.0.2.0/255.255.255.0\n192.0.2.300-301\n192.0.2.*\n192.0.2.1-10,15\n',
    );
    const hosts = ['1', '2', '4', '5', '7', '8', '10', '11'].map((last) => `192.0.2.${last}`);
    expect(urls).toEqual([...hosts, '[2001:db8::a]', '[2001:db8::b]'].map((host) => `https://${host}/?`));
    expect(problemsOf(report)).toEqual([
      '6: 2001:db8::1%eth0 has a zone: give the address without it',
      '7: [fe80::1%25eth0]:8080 has a zone: give the address without it',
      '8: fe80::/64%1 has the prefix length 64%1: it is a number from 0 to 128',
      '9: 192.0.2.0/255.255.255.0 has the prefix length 255.255.255.0: it is a number from 0 to 32',
      expect.stringContaining('10: 192.0.2.300-301 '),
      expect.stringContaining('11: 192.0.2.* '),
      expect.stringContaining('12: 192.0.2.1-10,15 '),
    ]);
  });

  it('is a list of hosts and ports with all kinds of schemes', async () => {
    const { urls, report } = await listed(
      'a.example:443\na.example:80/x\nA.example:8443\nHTTPS://A.example:8443/\n//b.example/y\nuser@c.example\nhttp://c.example:80/\nlocalhost:3000\n[2001:db8::1]:8443\n2001:db8::1:8443\nd.example:http\ntcp://e.example:80\na.example:99999\n*.f.example\n----------\n',
    );
    expect(urls).toEqual([
      'https://a.example/',
      'http://a.example/x',
      'https://a.example:8443/?',
      'https://a.example:8443/',
      'https://b.example/y?',
      'https://c.example/?',
      'http://c.example/',
      'https://localhost:3000/?',
      'https://[2001:db8::1]:8443/?',
      'https://[2001:db8::1:8443]/?',
    ]);
    expect(problemsOf(report)).toEqual([
      '11: d.example:http has the port http: a port is a number from 0 to 65535',
      '12: tcp://e.example:80 has the scheme tcp: targets are http or https',
      '13: a.example:99999 has the port 99999: a port is a number from 0 to 65535',
      '14: *.f.example has the host *.f.example: hosts have letters, digits, hyphens and dots',
      '15: ---------- has the host ----------: hosts have letters, digits, hyphens and dots',
    ]);
  });

  it('is pasted from a program or a mail, with quotes and commas', async () => {
    const { urls, report } = await listed(
      '"a.example",\n\'b.example\'\n<https://c.example/>,\n  d.example,\ne.example, f.example\ng.example,h.example\n',
    );
    expect(urls).toEqual(['https://a.example/?', 'https://b.example/?', 'https://c.example/', 'https://d.example/?']);
    expect(problemsOf(report)).toEqual([
      '5: e.example, f.example has blanks: give one target on each line',
      '6: g.example,h.example has the host g.example,h.example: hosts have letters, digits, hyphens and dots',
    ]);
  });
});
