import type { GitHttpResponse, HttpClient } from 'isomorphic-git';
import { TransientError } from '../../../core/errors.ts';
import { needsGitProgram } from '../program/git-program.ts';

export interface RefAdvertisementOptions {
  /** For messages. */
  readonly subject: string;
  /** Name some commit as HEAD where the remote's own leads nowhere: isomorphic-git fetches no branch of a remote without one. */
  readonly lendHead: boolean;
  /** Takes the ids of the commits at which the remote's own history begins, when it does not have all of it. */
  readonly shallow: string[];
}

const ADVERTISEMENT = '/info/refs?service=git-upload-pack';

/**
 * Looks at a remote's list of refs before isomorphic-git does, which accepts a list that was cut off: then it knows fewer tags and
 * branches, and of one with SHA-256 ids none. TransientError for the one, `git.needs-program` for the other.
 */
export function checkingRefs(http: HttpClient, options: RefAdvertisementOptions): HttpClient {
  return {
    async request(request): Promise<GitHttpResponse> {
      const response = await http.request(request);
      const { body, statusCode } = response;
      if (body === undefined || statusCode !== 200 || !request.url.endsWith(ADVERTISEMENT)) return response;
      const parts: Uint8Array[] = [];
      for await (const part of body) parts.push(part);
      return { ...response, body: once(checked(Buffer.concat(parts), options)) };
    },
  };
}

async function* once(bytes: Uint8Array) {
  yield bytes;
}

function checked(body: Buffer, { subject, lendHead, shallow }: RefAdvertisementOptions): Buffer {
  const { lines, flushes } = readLines(body);
  // No pkt-lines: what this is instead, isomorphic-git says.
  if (lines.length === 0) return body;
  const isNamed = lines[0]?.startsWith('# service=') === true;
  const listEnd = flushes[isNamed ? 1 : 0];
  if (listEnd === undefined)
    throw new TransientError("the remote's list of refs is cut off", { code: 'git.failed', subject });
  const refs = lines.slice(isNamed ? 1 : 0).filter((line) => !line.startsWith('version '));
  if (/\0.*\bobject-format=sha256\b/.test(refs[0] ?? ''))
    throw needsGitProgram(subject, 'a repository with SHA-256 ids');
  shallow.push(...refs.flatMap((line) => /^shallow ([0-9a-f]{40})/.exec(line)?.[1] ?? []));
  const named = refs.flatMap((line) => {
    const [, id = '', name = ''] = /^([0-9a-f]{40}) ([^\0\n]+)/.exec(line) ?? [];
    return id === '' || /^0+$/.test(id) ? [] : [{ id, name }];
  });
  const lent = named.find(({ name }) => name.startsWith('refs/heads/')) ?? named[0];
  if (!lendHead || lent === undefined || named.some(({ name }) => name === 'HEAD')) return body;
  const head = Buffer.from(`0032${lent.id} HEAD\n`);
  return Buffer.concat([body.subarray(0, listEnd), head, body.subarray(listEnd)]);
}

/** The pkt-lines as text, as far as they are whole, and where flushes are between them. */
function readLines(body: Buffer): { readonly lines: readonly string[]; readonly flushes: readonly number[] } {
  const lines: string[] = [];
  const flushes: number[] = [];
  for (let at = 0; at + 4 <= body.length; ) {
    const digits = body.toString('latin1', at, at + 4);
    const length = /^[0-9a-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : body.length;
    if (at + length > body.length) break;
    if (length === 0) flushes.push(at);
    if (length > 4) lines.push(body.toString('utf8', at + 4, at + length));
    at += Math.max(length, 4);
  }
  return { lines, flushes };
}
