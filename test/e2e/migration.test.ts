import { describe } from 'vitest';
import { startOurAgent } from '../interop/registration/matrix-agents.ts';
import { migrationStories } from './migration-stories.ts';

describe('a placement leaves a cluster that cannot go on', () => migrationStories(startOurAgent));
