// The kinds of tabs. A new kind needs a component here and a section in docs/design/page-kit.md.

import type {ComponentType} from 'preact';
import type {TabSpec} from '../payload';
import type {Changes} from '../shell/address';
import {CallersTab} from './callers_tab';
import {CoverageTab} from './coverage_tab';
import {FlameTab} from './flame_tab';
import {FunctionsTab} from './functions_tab';
import {OrderTab} from './order_tab';
import {BarsTab, SourceTab, TableTab} from './plain_tabs';
import {PredictorsTab} from './predictors_tab';
import {StepsTab} from './steps_tab';

export interface TabProps {
  spec: TabSpec;
  data: unknown;  // Payload.data[spec.data]
  openTab: (kind: string, changes: Changes) => void;  // shows the first tab of that kind over the same data
}

export const kTabKinds: Record<string, ComponentType<TabProps>> = {
  flame: FlameTab,
  functions: FunctionsTab,
  callers: CallersTab,
  table: TableTab,
  bars: BarsTab,
  source: SourceTab,
  predictors: PredictorsTab,
  steps: StepsTab,
  coverage: CoverageTab,
  order: OrderTab,
};
