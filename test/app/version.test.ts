import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../src/app/cli/program.ts';
import { makeCliIo } from './cli-harness.ts';

describe('berth version', () => {
  it('prints the package version as JSON', async () => {
    const { io, stdout } = makeCliIo();
    expect(await runCli(['version', '-o', 'json'], io)).toBe(0);
    expect(JSON.parse(stdout())).toEqual({
      berth: expect.stringMatching(/^\d+\.\d+\.\d+/),
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
