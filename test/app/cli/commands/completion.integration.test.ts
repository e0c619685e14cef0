import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMANDS, runCli } from '../../../../src/app/cli/program.ts';
import { makeCliIo } from '../../cli-harness.ts';

let dir: string;
beforeAll(() => (dir = mkdtempSync(join(tmpdir(), 'berth-completion-'))));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function scriptOf(shell: string): Promise<string> {
  const { io, stdout } = makeCliIo();
  expect(await runCli(['completion', shell], io)).toBe(0);
  const file = join(dir, shell);
  writeFileSync(file, stdout());
  return file;
}

/** What bash offers for a line; the last word is the one that is typed. */
async function offered(...words: readonly string[]): Promise<readonly string[]> {
  const quoted = words.map((word) => `'${word}'`).join(' ');
  const script = `source ${await scriptOf('bash')}; COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _berth; echo "\${COMPREPLY[@]}"`;
  const said = execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim();
  return said === '' ? [] : said.split(' ');
}

describe('berth completion', () => {
  it.each([
    { words: ['berth', 'st'], want: ['status'] },
    { words: ['berth', 'get', 'p'], want: ['placements'] },
    { words: ['berth', 'get', 'placement', '--o'], want: ['--output'] },
    { words: ['berth', 'get', 'addons', '-o', ''], want: ['table', 'wide', 'name', 'json', 'yaml'] },
    { words: ['berth', 'hub', '--mem'], want: ['--members'] },
    { words: ['berth', 'explain', 'shop/web', '--cl'], want: ['--cluster'] },
    { words: ['berth', 'plan', '--repo', ''], want: [] },
  ])('offers $want for $words', async ({ words, want }) => {
    expect(await offered(...words)).toEqual(expect.arrayContaining(want));
    if (want.length === 1) expect(await offered(...words)).toEqual(want);
  });

  it.each(['bash', 'zsh', 'fish'])('prints a script that %s reads, where it is installed', async (shell) => {
    const file = await scriptOf(shell);
    try {
      execFileSync(shell, ['-n', file], { stdio: 'pipe' });
    } catch (error) {
      expect((error as NodeJS.ErrnoException).code).toBe('ENOENT');
    }
  });
});

it('every command is in a group of the help', async () => {
  const { io, stdout } = makeCliIo();
  await runCli(['--help'], io);
  const headings = stdout().match(/^[A-Z][^\n]*:$/gm);
  expect(headings).toEqual([
    'Options:',
    'Begin:',
    'Look at a fleet:',
    'Check and preview changes in Git:',
    'Act on a hub:',
    'Run:',
    'More:',
    'Examples:',
  ]);
  expect(COMMANDS.length).toBeGreaterThan(40);
  const { io: other, stdout: ofGet } = makeCliIo();
  await runCli(['get', '--help'], other);
  expect(ofGet().match(/^[A-Z][^\n]*:$/gm)).toEqual(['Options:', 'Commands:', 'Examples:']);
});

it('an unknown command is answered with those that exist', async () => {
  const { io, stderr } = makeCliIo();
  expect(await runCli(['get', 'pods'], io)).toBe(1);
  expect(stderr()).toContain("error: unknown command 'pods'\n");
  expect(stderr()).toMatch(/^hint: berth get has these commands: addons, clusters, /m);
});
