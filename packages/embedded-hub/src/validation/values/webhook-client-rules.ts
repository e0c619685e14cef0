import { dns1035Label, dnsSubdomain } from '@berth/kube/model/selector/name-rules';
import { getOwn, type JsonObject, numberAt, objectAt, textAt, textsAt } from '../../json/json-value.ts';
import type { FieldReporter } from './field-reporter.ts';

const FORM = '; desired format: https://host[/path]';
const MAX_PORT = 65_535;
/** The versions of reviews that the hub can send. */
const SENT_VERSIONS = ['v1', 'v1beta1'];

/**
 * A `clientConfig`, except for its `caBundle`. Source: apiserver `pkg/util/webhook/validation.go`.
 */
export function checkWebhookClient(config: JsonObject, at: FieldReporter): void {
  const url = typeof getOwn(config, 'url') === 'string' ? textAt(config, 'url') : undefined;
  const service = objectAt(config, 'service');
  if ((url === undefined) === (service === undefined)) {
    at.required('exactly one of url or service is required');
    return;
  }
  if (service === undefined) checkUrl(url ?? '', at.at('url'));
  else checkService(service, at.at('service'));
}

interface GoUrl {
  readonly scheme: string;
  readonly host: string;
  readonly user: string | undefined;
  readonly query: string;
  readonly fragment: string;
}

/** Splits a URL as Go's net/url does. */
const URL_PARTS =
  /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/(?:([^/?#@]*)@)?([^/?#]*))?[^?#]*(?:\?([^#]*))?(?:#(.*))?$/s;

function splitUrl(url: string): GoUrl | undefined {
  if (url.startsWith(':')) return undefined;
  const [, scheme = '', user, host = '', query = '', fragment = ''] = URL_PARTS.exec(url) ?? [];
  return { scheme: scheme.toLowerCase(), host, user, query, fragment };
}

function checkUrl(url: string, at: FieldReporter): void {
  const parts = splitUrl(url);
  if (parts === undefined) {
    at.required(`url must be a valid URL: parse ${JSON.stringify(url)}: missing protocol scheme${FORM}`);
    return;
  }
  const { scheme, host, user, query, fragment } = parts;
  if (scheme !== 'https') at.invalid(scheme, `'https' is the only allowed URL scheme${FORM}`);
  if (host === '') at.invalid(host, `host must be specified${FORM}`);
  else if (scheme === 'https' && !URL.canParse(url))
    at.required(`url must be a valid URL: parse ${JSON.stringify(url)}: invalid URL${FORM}`);
  if (user !== undefined) at.invalid(user, 'user information is not permitted in the URL');
  if (fragment !== '') at.invalid(fragment, 'fragments are not permitted in the URL');
  if (query !== '') at.invalid(query, 'query parameters are not permitted in the URL');
}

function checkService(service: JsonObject, at: FieldReporter): void {
  for (const key of ['name', 'namespace']) if (textAt(service, key) === '') at.at(key).required();
  const port = numberAt(service, 'port');
  if (port !== undefined && (port < 1 || port > MAX_PORT))
    at.at('port').invalid(port, `port is not valid: must be between 1 and ${String(MAX_PORT)}, inclusive`);
  checkPath(textAt(service, 'path'), at.at('path'));
}

function checkPath(path: string, at: FieldReporter): void {
  if (path === '' || path === '/') return;
  if (path === '//') {
    at.invalid(path, 'segment[0] may not be empty');
    return;
  }
  if (!path.startsWith('/')) at.invalid(path, "must start with a '/'");
  const segments = path.slice(1).replace(/\/$/, '').split('/');
  for (const [index, segment] of segments.entries()) {
    const name = `segment[${String(index)}]`;
    if (segment === '') at.invalid(path, `${name} may not be empty`);
    else for (const problem of dnsSubdomain(segment)) at.invalid(path, `${name}: ${problem}`);
  }
}

/**
 * Checks the review versions that a webhook accepts. The hub must be able to send one of them.
 * @param missing the message for an empty list
 */
export function checkReviewVersions(owner: JsonObject, key: string, at: FieldReporter, missing = ''): void {
  const versions = textsAt(owner, key);
  const place = at.at(key);
  if (versions.length === 0) {
    place.required(missing);
    return;
  }
  const seen = new Set<string>();
  for (const [index, version] of versions.entries()) {
    if (seen.has(version)) place.at(index).invalid(version, 'duplicate version');
    else place.at(index).validName(version, dns1035Label);
    seen.add(version);
  }
  if (!SENT_VERSIONS.some((version) => seen.has(version)))
    place.invalid([...versions], `must include at least one of ${SENT_VERSIONS.join(', ')}`);
}
