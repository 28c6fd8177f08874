/** Entry point of the conversation page. The other modules are imported by path, so that each is loaded only once. */
import "./connection.js";
import "./transcript.js";
import "./settings.js";
import "./web_search.js";
import "./composer.js";
import "./access.js";
import "./focus.js";
import "./more_messages.js";
import "./search.js";
import "./sidebar.js";
import "./open_conversation.js";
import "./folds.js";
import "./head_menu.js";
import "./times.js";
import "./on_demand.js";
