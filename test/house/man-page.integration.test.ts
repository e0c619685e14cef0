import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { findProgram } from '@berth/test-kit/needed-program';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { COMMANDS, runCli } from '../../src/app/cli/program.ts';
import { makeCliIo } from '../app/cli-harness.ts';
import { manPage } from './man-page.ts';

const FILE = 'docs/berth.1';
const groff = findProgram('groff');

function program(): Command {
  const root = new Command('berth').description(
    'GitOps placement controller for Open Cluster Management and Argo CD',
  );
  for (const command of COMMANDS) command.register(root, () => () => Promise.resolve());
  return root;
}

describe('the manual page', () => {
  it('is what the commands say', async () => {
    const helpBelow = async (words: readonly string[]): Promise<string> => {
      const { io, stdout } = makeCliIo();
      await runCli([...words, '--help'], io);
      const text = stdout();
      const from = [text.indexOf('\nExit codes:'), text.indexOf('\nExamples:')].filter((at) => at >= 0);
      return text.slice(Math.min(...from));
    };
    const page = await manPage({ program: program(), helpBelow });
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(FILE, page);
    expect(readFileSync(FILE, 'utf8')).toBe(page);
  });

  it('is in the package', () => {
    const { man, files } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      readonly man: string;
      readonly files: readonly string[];
    };
    expect(man).toBe(FILE);
    expect(files).toContain('docs');
  });

  it.skipIf(groff === undefined)('is read without a complaint, and shows what was written', () => {
    const shown = execFileSync(groff ?? '', ['-man', '-Tutf8', '-ww', FILE], {
      encoding: 'utf8',
      stdio: 'pipe',
    });
    const text = shown.replaceAll(/\u001b\[[\d;]*m|.\u0008/g, '').replaceAll('‐', '-');
    expect(text).toContain('berth release [placement]');
    expect(text).toContain('berth get clusters --clusterset default');
    expect(text).toMatch(/-n, --namespace <name>\n +only this namespace/);
  });
});
