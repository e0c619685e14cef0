import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inflate, inflateSync } from 'node:zlib';
import git from 'isomorphic-git';
import type { privateFs } from './private-fs.ts';

export interface GitStore {
  readonly fs: typeof privateFs;
  readonly gitdir: string;
  readonly cache: object;
}

export interface GitObject {
  /** `commit`, `tree`, `blob` or `tag`. */
  readonly type: string;
  readonly content: Buffer;
}

const inflateInThread = promisify(inflate);
/** Inflating a larger object synchronously would block the event loop for too long. */
const MAX_SYNC_BYTES = 64 * 1024;

/**
 * Reads an object of a repository. isomorphic-git reads only those in packs: it inflates a loose
 * object through a web stream, which takes several times as long.
 * @throws git.Errors.NotFoundError, and an Error where it is damaged
 */
export async function readObject(store: GitStore, oid: string): Promise<GitObject> {
  const loose = await looseObject(store.gitdir, oid);
  if (loose !== undefined) return loose;
  const found = await git.readObject({ ...store, oid, format: 'content' });
  if (found.format !== 'content') throw new git.Errors.InternalError(`got ${found.format}, expected content`);
  return { type: found.type, content: asBuffer(found.object) };
}

async function looseObject(gitDir: string, oid: string): Promise<GitObject | undefined> {
  const deflated = await readFile(join(gitDir, 'objects', oid.slice(0, 2), oid.slice(2))).catch(
    ignoreMissing,
  );
  if (deflated === undefined) return undefined;
  const bytes = deflated.length > MAX_SYNC_BYTES ? await inflateInThread(deflated) : inflateSync(deflated);
  if (createHash('sha1').update(bytes).digest('hex') !== oid)
    throw damaged(oid, 'its content has another id');
  const end = bytes.indexOf(0);
  const [type = '', size] = bytes.toString('latin1', 0, Math.max(end, 0)).split(' ');
  const content = bytes.subarray(end + 1);
  if (size !== String(content.length)) throw damaged(oid, `it has ${content.length} bytes, expected ${size}`);
  return { type, content };
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
}

function damaged(oid: string, problem: string): Error {
  return new git.Errors.InternalError(`object ${oid} is damaged: ${problem}`);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
