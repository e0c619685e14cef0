import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GitProgramRepository } from '../../../../packages/git-reader/src/program/git-program-repository.ts';
import type { GitRepository } from '@berth/git-reader/repository/git-repository';
import { createLogger } from '../../../../src/adapters/log/pino-logger.ts';
import { SourceReader } from '../../../../src/controllers/sources/reading/source-reader.ts';
import { ParsedCache } from '../../../../src/controllers/sources/parsing/parsed-cache.ts';
import {
  decodeParsedFile,
  encodeParsedFile,
} from '../../../../src/controllers/sources/parsing/parsed-record.ts';
import { readContent } from '../../../../src/controllers/sources/manifests/read-content.ts';
import { eachWithRepository } from '../../../adapters/git/each-with-repository.ts';
import type { GitFixture } from '../../../../packages/git-reader/test/git-fixture.ts';

const silent = createLogger({ level: 'error', stream: process.stderr });
const configMap = (name: string, value: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {value: "${value}"}\n`;

describe('a parsed file comes out of its record as it went in', () => {
  it.each<[string, string]>([
    ['one object', configMap('a', '1')],
    [
      'several, and blank documents',
      `---\n---\n${configMap('a', 'ü\u{1f600}')}---\n# nothing\n---\n${configMap('b', '\\"')}`,
    ],
    ['a list', `apiVersion: v1\nkind: List\nitems:\n- ${configMap('a', '1').replaceAll('\n', '\n  ')}`],
    [
      'numbers',
      'apiVersion: v1\nkind: X\nmetadata: {name: n}\nspec: {a: -0, b: -0.0, c: 1e300, d: 0x1F, e: 1.50, f: 010, g: 1_000}\n',
    ],
    [
      'keys that mean something to JavaScript',
      'apiVersion: v1\nkind: X\nmetadata: {name: n}\nspec: {__proto__: {a: 1}, constructor: 2, "2": b, "1": a}\n',
    ],
    ['an anchor', 'apiVersion: v1\nkind: X\nmetadata: {name: n}\nspec: {a: &a {x: 1}, b: *a, c: {<<: *a}}\n'],
    [
      'errors with lines',
      `${configMap('a', '1')}---\nkind: ConfigMap\napiVersion: v1\nmetadata: {name: 3}\n---\nx: [\n`,
    ],
    ['warnings', 'a: 1\n'],
    ['nothing', ''],
  ])('%s', (_name, text) => {
    const parsed = readContent('dir/f.yaml', Buffer.from(text));
    const again = decodeParsedFile('dir/f.yaml', encodeParsedFile(readContent('', Buffer.from(text))));
    expect(again).toEqual(parsed);
    // The order of keys, which toEqual does not see.
    expect(JSON.stringify(again.manifests)).toBe(JSON.stringify(parsed.manifests));
  });
});

describe('the cache of parsed files', () => {
  let fixture: GitFixture;
  let repository: GitProgramRepository;
  eachWithRepository(GitProgramRepository, (given) => ({ fixture, repository } = given));
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(path.join(tmpdir(), 'berth-parsed-'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));
  const files = Object.fromEntries(
    Array.from({ length: 200 }, (_, i) => [`f${i}.yaml`, configMap(`c${i}`, String(i))]),
  );
  /** Reads a commit as a new process would; answers the fleet and how many blobs it read from git. */
  const readAnew = async (commit: string) => {
    let blobs = 0;
    const counting: GitRepository = Object.assign(Object.create(repository) as GitRepository, {
      commit: (id: string) => repository.commit(id),
      listTree: (id: string) => repository.listTree(id),
      readBlobs: (...[ids, options, onBlob]: Parameters<GitRepository['readBlobs']>) => {
        blobs += ids.length;
        return repository.readBlobs(ids, options, onBlob);
      },
    });
    const cache = new ParsedCache({ dir, log: silent });
    const { textOf: _textOf, ...fleet } = await new SourceReader(counting, { cache }).read(commit);
    await cache.close();
    return { fleet, blobs };
  };

  it('spares a restart the parsing, and changes nothing of what is read', async () => {
    const commit = fixture.commit({ ...files, 'broken.yaml': 'a: [', 'copy of f1.yaml': 'a: [' });
    const first = await readAnew(commit);
    expect(first.blobs).toBe(202);
    const second = await readAnew(commit);
    expect(second.blobs).toBe(0);
    expect(second.fleet).toEqual(first.fleet);
    const next = fixture.commit({ 'f7.yaml': configMap('c7', 'changed') });
    expect((await readAnew(next)).blobs).toBe(1);
  });

  it.each<[string, (content: Buffer) => Buffer]>([
    ['cut off', (content) => content.subarray(0, content.length / 2)],
    ['overwritten', (content) => content.map((byte, at) => (at % 100 === 99 ? byte ^ 4 : byte)) as Buffer],
    ['that other code wrote', (content) => Buffer.concat([Buffer.from('berth-cache 1 other\n'), content])],
  ])('is not believed when it was %s', async (_name, damage) => {
    const commit = fixture.commit(files);
    const first = await readAnew(commit);
    for (const name of readdirSync(dir)) {
      const file = path.join(dir, name);
      writeFileSync(file, damage(readFileSync(file)));
    }
    const second = await readAnew(commit);
    expect(second.blobs).toBeGreaterThan(0);
    expect(second.fleet).toEqual(first.fleet);
    expect((await readAnew(commit)).blobs).toBe(0);
  });
});
