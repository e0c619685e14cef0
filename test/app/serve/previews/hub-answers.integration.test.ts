import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe } from 'vitest';
import { startEmbeddedHub } from '../../../fakes/embedded-hub.ts';
import { hubAnswers } from './hub-answers-scenarios.ts';

describe('a plan on a hub knows what the hub does with', () => {
  const opened: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of opened.splice(0)) await close();
  });

  hubAnswers(async () => {
    const { api, kubeconfig, close } = await startEmbeddedHub();
    const dataDir = mkdtempSync(join(tmpdir(), 'berth-answers-'));
    opened.push(close, async () => rmSync(dataDir, { recursive: true, force: true }));
    return {
      api,
      kubeconfig,
      dataDir,
      settled: async () => undefined,
      atEnd: (end) => void opened.push(end),
    };
  });
});
