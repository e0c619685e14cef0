import { describe } from 'vitest';
import { migrationStories } from '../../e2e/migration-stories.ts';
import { hasPeers } from '../peers/peer-programs.ts';
import { startOcmAgents } from './matrix-agents.ts';

describe.skipIf(!hasPeers('ocm/registration', 'ocm/work'))(
  'a placement leaves a cluster that cannot go on, whose agents are those of OCM',
  () => migrationStories(startOcmAgents),
);
