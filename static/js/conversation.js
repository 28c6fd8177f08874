/** Entry point of the conversation page. The other modules are imported by path, so that each is loaded only once. */
import "./connection.js";
import "./transcript.js";
import "./settings.js";
import "./web_search.js";
import "./composer.js";
import "./more_messages.js";
import "./projects.js";
import "./search.js";
import "./sidebar.js";
import "./conversation_list.js";
import "./list_states.js";
import "./folds.js";
import "./head_menu.js";
import "./shortcuts.js";
import "./times.js";
import "./on_demand.js";
