import { afterAll, beforeAll, describe } from 'vitest';
import { startEmbeddedHub } from '../../fakes/embedded-hub.ts';
import { hasPeers } from '../peers/peer-programs.ts';
import { decisionRows } from './decision-rows.ts';
import { GeneratorWorld } from './generator-world.ts';
import { pluginRows } from './plugin-rows.ts';
import { setRows } from './set-rows.ts';

describe.skipIf(!hasPeers('argocd'))('Argo CD’s ApplicationSet controller on the embedded hub', () => {
  let world: GeneratorWorld;
  beforeAll(async () => {
    world = await GeneratorWorld.start(await startEmbeddedHub());
  });
  afterAll(() => world?.close());

  pluginRows(() => world);
  decisionRows(() => world);
  setRows(() => world);
});
