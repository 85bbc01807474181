import type { Found } from './found.ts';
import { readXml } from './xml-reader.ts';
import { foreignRoot } from './xml-roots.ts';

/** Services that answer http. nmap names a port by its number where it did not look (`http-alt`, `vnc-http`). */
const HTTP_SERVICE = /^(?:ssl\/)?(?!http-rpc-epmap$)(?:(?:\w+-)*https?(?:-\w+)*|http-?proxy|www|caldav|webcache)$/i;
const TLS_SERVICE = /^ssl\/|\bhttps\b/i;

/** TCP and UDP have this many ports together; further elements are left out. */
const MAX_PORTS_OF_HOST = 2 * 65_536;

interface Port {
  readonly id: string;
  readonly protocol: string;
  state: string;
  /** Undefined where the file names none. */
  service: string | undefined;
  isTls: boolean;
}

/**
 * Finds the open ports with an http service in the XML output of nmap, also of one that was broken off. A host that
 * was given by its name is captured by that name, because a server may have several sites; all others by address. Of
 * the XML of masscan, which knows no services, it finds all open TCP ports.
 */
export function nmapList(texts: AsyncIterable<string>): AsyncGenerator<readonly Found[], void, undefined> {
  let isMasscan = false;
  let address = '';
  let userName = '';
  let isDown = false;
  let ports: Port[] = [];
  let port: Port | undefined;

  const targetsOfHost = (line: number): readonly Found[] => {
    const host = userName !== '' ? userName : address.includes(':') ? `[${address}]` : address;
    if (isDown) return [{ line, text: host, reason: 'host_down', problem: null }];
    return ports.map(({ id, protocol, state, service, isTls }): Found => {
      const text = `${host}:${id}${protocol === 'tcp' ? '' : `/${protocol}`}`;
      if (state !== 'open') return { line, text, reason: 'closed_port', problem: null };
      if (protocol === 'tcp' && service === undefined && isMasscan) return { line, target: text };
      if (protocol !== 'tcp' || service === undefined || !HTTP_SERVICE.test(service)) {
        return { line, text, reason: 'other_service', problem: null };
      }
      return { line, target: `${isTls || TLS_SERVICE.test(service) ? 'https' : 'http'}://${host}:${id}/` };
    });
  };

  /** Returns the complete ports of a host that was broken off. */
  const brokenOff = (line: number): readonly Found[] => {
    const found = ports.length > 0 ? targetsOfHost(line) : [];
    ports = [];
    port = undefined;
    return found;
  };

  return readXml<Found>(texts, {
    open: (element) => {
      const { name, attributes, line } = element;
      const found = name === 'host' || name === 'nmaprun' ? brokenOff(line) : foreignRoot(element, 'nmap');
      if (name === 'host') {
        address = '';
        userName = '';
        isDown = false;
      } else if (name === 'nmaprun') isMasscan = attributes.scanner === 'masscan';
      else if (name === 'status') isDown = attributes.state === 'down';
      else if (name === 'address' && attributes.addrtype !== 'mac') address ||= attributes.addr ?? '';
      else if (name === 'hostname' && attributes.type === 'user') userName ||= attributes.name ?? '';
      else if (name === 'port') {
        const { portid: id = '', protocol = 'tcp' } = attributes;
        port = { id, protocol, state: '', service: undefined, isTls: false };
      } else if (name === 'state' && port !== undefined) port.state = attributes.state ?? '';
      else if (name === 'service' && port !== undefined) {
        port.service = attributes.name ?? '';
        port.isTls = attributes.tunnel === 'ssl';
      }
      return found;
    },
    close: (name, _text, line) => {
      if (name === 'port') {
        if (port !== undefined && ports.length < MAX_PORTS_OF_HOST) ports.push(port);
        port = undefined;
      }
      if (name !== 'host') return [];
      const found = targetsOfHost(line);
      ports = [];
      return found;
    },
    unfinished: (line) => {
      const problem = 'the file ends before its scan did: a last host may be missing';
      return [...brokenOff(line), { line, text: '', reason: 'unfinished', problem }];
    },
    broken: (problem, line) => [
      ...brokenOff(line),
      { line, text: '', reason: 'invalid', problem: `is not XML from here on, and was read no further: ${problem}` },
    ],
  });
}
