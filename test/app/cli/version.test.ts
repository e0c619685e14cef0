import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../../src/app/cli/program.ts';
import { makeCliIo } from '../cli-harness.ts';

describe('berth version', () => {
  it.each(['--version', '-V'])('berth %s prints one line', async (flag) => {
    const { io, stdout } = makeCliIo();
    expect(await runCli([flag], io)).toBe(0);
    expect(stdout()).toMatch(/^berth \d+\.\d+\.\d+\S*, commit unknown\n$/);
  });

  it('prints the same as YAML', async () => {
    const { io, stdout } = makeCliIo();
    expect(await runCli(['version', '-o', 'yaml'], io)).toBe(0);
    expect(stdout()).toMatch(/^berth: \d+\.\d+\.\d+\S*\ncommit: unknown\nnode: v\d/);
  });

  it('prints the package version as JSON', async () => {
    const { io, stdout } = makeCliIo();
    expect(await runCli(['version', '-o', 'json'], io)).toBe(0);
    expect(JSON.parse(stdout())).toEqual({
      berth: expect.stringMatching(/^\d+\.\d+\.\d+/),
      commit: 'unknown',
      node: process.version,
    });
  });

  it('answers an unknown command with exit code 1 and a pointer to --help', async () => {
    const { io, stderr } = makeCliIo({ stdin: new PassThrough() });
    expect(await runCli(['frobnicate'], io)).toBe(1);
    expect(stderr()).toContain("unknown command 'frobnicate'");
    expect(stderr()).toContain('--help');
  });
});
