import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { deflateSync } from 'node:zlib';

const AUTHOR = 'Ada <ada@example.org>';

/** Files (the ids of their blobs) and folders by their names. */
interface Folder {
  readonly entries: Map<string, Folder | string>;
  /** The id of its tree; undefined: it was changed since. */
  id: string | undefined;
}

/**
 * Writes commits into a repository without a git program and without a work tree: a test of thousands of commits would else start
 * thousands of processes for them. What it writes, every git reads.
 */
export class CommitWriter {
  readonly #gitDir: string;
  /** What the next commit has. */
  readonly #root = emptyFolder();

  /** @param path a work tree */
  constructor(path: string) {
    this.#gitDir = join(path, '.git');
  }

  has(file: string): boolean {
    let at: Folder | string | undefined = this.#root;
    for (const step of file.split('/')) at = typeof at === 'object' ? at.entries.get(step) : undefined;
    return at !== undefined;
  }

  /** Commits files (undefined removes one) on a branch; the commit's id. */
  commit(branch: string, files: Readonly<Record<string, string | undefined>>): string {
    for (const [file, text] of Object.entries(files)) this.#put(file, text);
    const parent = this.#tip(branch);
    return this.#writeCommit(branch, parent === undefined ? [] : [parent], `Commit on ${branch}`);
  }

  /** A branch begins where another one is. */
  branch(name: string, from: string): void {
    this.#point(name, this.#tip(from) ?? '');
  }

  /** Merges the branch that was written last, which began at the tip of the other, as a forge does: with a commit of its own. */
  merge(branch: string, into: string): string {
    return this.#writeCommit(
      into,
      [into, branch].map((name) => this.#tip(name) ?? ''),
      `Merge ${branch}`,
    );
  }

  #writeCommit(branch: string, parents: readonly string[], message: string): string {
    const person = `${AUTHOR} ${Math.floor(Date.now() / 1_000)} +0000`;
    const headers = [
      `tree ${this.#writeTree(this.#root)}`,
      ...parents.map((parent) => `parent ${parent}`),
      `author ${person}`,
      `committer ${person}`,
    ];
    const id = this.#write('commit', Buffer.from(`${headers.join('\n')}\n\n${message}\n`));
    this.#point(branch, id);
    return id;
  }

  #put(file: string, text: string | undefined): void {
    const folders = file.split('/');
    const name = folders.pop() ?? '';
    let at = this.#root;
    at.id = undefined;
    for (const step of folders) {
      const found = at.entries.get(step);
      const next = typeof found === 'object' ? found : emptyFolder();
      at.entries.set(step, next);
      next.id = undefined;
      at = next;
    }
    if (text === undefined) at.entries.delete(name);
    else at.entries.set(name, this.#write('blob', Buffer.from(text)));
  }

  #writeTree(folder: Folder): string {
    // Git knows no empty folders, and sorts a folder as if its name ended in a slash.
    const entries = [...folder.entries]
      .filter(([, entry]) => typeof entry === 'string' || entry.entries.size > 0)
      .map(([name, entry]) => ({ name, entry, order: typeof entry === 'string' ? name : `${name}/` }))
      .sort((a, b) => (a.order < b.order ? -1 : 1))
      .flatMap(({ name, entry }) => [
        Buffer.from(`${typeof entry === 'string' ? '100644' : '40000'} ${name}\0`),
        Buffer.from(typeof entry === 'string' ? entry : this.#writeTree(entry), 'hex'),
      ]);
    return (folder.id ??= this.#write('tree', Buffer.concat(entries)));
  }

  /** An object; its id. */
  #write(type: 'blob' | 'tree' | 'commit', content: Buffer): string {
    const bytes = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]);
    const id = createHash('sha1').update(bytes).digest('hex');
    const file = join(this.#gitDir, 'objects', id.slice(0, 2), id.slice(2));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, deflateSync(bytes));
    return id;
  }

  #tip(branch: string): string | undefined {
    try {
      return readFileSync(this.#refOf(branch), 'utf8').trim();
    } catch {
      return undefined;
    }
  }

  #point(branch: string, id: string): void {
    writeFileSync(this.#refOf(branch), `${id}\n`);
  }

  #refOf(branch: string): string {
    return join(this.#gitDir, 'refs', 'heads', branch);
  }
}

function emptyFolder(): Folder {
  return { entries: new Map(), id: undefined };
}
