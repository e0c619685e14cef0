import { describe } from 'vitest';
import { hasPeers } from '../peers/peer-programs.ts';
import { startEmbeddedMatrixHub } from './matrix-hub.ts';
import { lifeOfACluster } from './matrix-story.ts';

const PROGRAMS = ['ocm/registration', 'ocm/work'];

describe.skipIf(!hasPeers(...PROGRAMS))('a cluster at the embedded hub', () =>
  lifeOfACluster(startEmbeddedMatrixHub),
);
