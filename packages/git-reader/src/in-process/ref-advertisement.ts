import type { GitHttpResponse, HttpClient } from 'isomorphic-git';
import { TransientError } from '@berth/runtime/errors';
import { needsGitProgram } from '../program/git-program.ts';

export interface RefAdvertisementOptions {
  /** The subject of errors. */
  readonly subject: string;
  /**
   * Add a HEAD line to a list without HEAD, as a remote sends it when its HEAD names a missing branch: isomorphic-git cannot fetch
   * from a remote without HEAD.
   */
  readonly addMissingHead: boolean;
  /** Output: the ids of the `shallow` lines, which a remote that is a shallow clone sends, are appended here. */
  readonly shallowCommits: string[];
}

const ADVERTISEMENT_PATH = '/info/refs?service=git-upload-pack';

/**
 * Wraps an HTTP client so that the ref advertisement of the remote is checked before isomorphic-git reads it. isomorphic-git accepts
 * a truncated list, and would miss branches and tags; and it ignores all refs with SHA-256 ids.
 * Source: git, Documentation/gitprotocol-http.txt and gitprotocol-pack.txt (Reference Discovery).
 * @returns a client whose requests throw TransientError `git.failed` for a truncated list, InputError `git.needs-program` for SHA-256
 */
export function checkRefAdvertisement(http: HttpClient, options: RefAdvertisementOptions): HttpClient {
  return {
    async request(request): Promise<GitHttpResponse> {
      const response = await http.request(request);
      const { body, statusCode } = response;
      if (body === undefined || statusCode !== 200 || !request.url.endsWith(ADVERTISEMENT_PATH))
        return response;
      const parts: Uint8Array[] = [];
      for await (const part of body) parts.push(part);
      return { ...response, body: singleChunk(checkAdvertisement(Buffer.concat(parts), options)) };
    },
  };
}

async function* singleChunk(bytes: Uint8Array) {
  yield bytes;
}

function checkAdvertisement(
  body: Buffer,
  { subject, addMissingHead, shallowCommits: shallow }: RefAdvertisementOptions,
): Buffer {
  const { lines, flushes } = parsePktLines(body);
  // This is not a ref advertisement. isomorphic-git reports what it is.
  if (lines.length === 0) return body;
  const hasServiceLine = lines[0]?.startsWith('# service=') === true;
  const listEnd = flushes[hasServiceLine ? 1 : 0];
  if (listEnd === undefined)
    throw new TransientError("the remote's list of refs is truncated", { code: 'git.failed', subject });
  const refs = lines.slice(hasServiceLine ? 1 : 0).filter((line) => !line.startsWith('version '));
  if (/\0.*\bobject-format=sha256\b/.test(refs[0] ?? ''))
    throw needsGitProgram(subject, 'a repository with SHA-256 ids');
  shallow.push(...refs.flatMap((line) => /^shallow ([0-9a-f]{40})/.exec(line)?.[1] ?? []));
  const advertised = refs.flatMap((line) => {
    const [, id = '', name = ''] = /^([0-9a-f]{40}) ([^\0\n]+)/.exec(line) ?? [];
    return id === '' || /^0+$/.test(id) ? [] : [{ id, name }];
  });
  const headCommit = advertised.find(({ name }) => name.startsWith('refs/heads/')) ?? advertised[0];
  if (!addMissingHead || headCommit === undefined || advertised.some(({ name }) => name === 'HEAD'))
    return body;
  const head = Buffer.from(`0032${headCommit.id} HEAD\n`);
  return Buffer.concat([body.subarray(0, listEnd), head, body.subarray(listEnd)]);
}

/** The complete pkt-lines as text, and the byte offsets of the flush packets between them. */
function parsePktLines(body: Buffer): {
  readonly lines: readonly string[];
  readonly flushes: readonly number[];
} {
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
