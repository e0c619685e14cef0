import { CelEnvironment } from './value/cel-environment.ts';
import { CONVERSIONS } from './library/conversions.ts';
import { FORMATS } from './library/formats.ts';
import { NETWORK } from './library/ips.ts';
import { LISTS } from './library/lists.ts';
import { OPERATORS } from './library/operators.ts';
import { OPTIONALS } from './library/optionals.ts';
import { QUANTITIES } from './library/quantities.ts';
import { REGEX } from './library/regex.ts';
import { SEMVERS } from './library/semvers.ts';
import { SETS } from './library/sets.ts';
import { STRING_FORMAT } from './library/string-format.ts';
import { STRINGS } from './library/strings.ts';
import { TIMES } from './library/time.ts';
import { URLS } from './library/urls.ts';

/**
 * The CEL environment of the Kubernetes API server, without variables. Each use adds its own
 * variables and functions.
 */
export const KUBERNETES_CEL: CelEnvironment = CelEnvironment.of(
  OPERATORS,
  CONVERSIONS,
  TIMES,
  OPTIONALS,
  STRINGS,
  STRING_FORMAT,
  LISTS,
  SETS,
  REGEX,
  URLS,
  QUANTITIES,
  NETWORK,
  FORMATS,
  SEMVERS,
);
